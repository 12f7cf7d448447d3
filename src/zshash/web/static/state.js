/** What is asked, as the address bar has it. */

export const PAGE = 60;
export const DEFAULT_K = 60;
const VIEWS = ["map"]; // beside the search

/**
 * @typedef {Object} State
 * @property {"search"|"map"|"copies"} view
 * @property {"name"|"id"|"code"|null} kind what is searched with
 * @property {string} value
 * @property {string[]} also further names that are searched for together with it
 * @property {string[]} without names of what is not wanted
 * @property {number} k
 * @property {number|null} radius
 * @property {string[]} labels
 * @property {string} where
 * @property {number} page from 1
 */

/** @returns {State} the state in which nothing is asked */
export function nothing() {
  const asked = { kind: null, value: "", also: [], without: [] };
  return { view: "search", ...asked, k: DEFAULT_K, radius: null, labels: [], where: "", page: 1 };
}

/**
 * @param {string} search the query string of an address
 * @returns {State}
 */
export function read(search) {
  const params = new URLSearchParams(search);
  const state = nothing();
  if (VIEWS.includes(params.get("view"))) state.view = params.get("view");
  Object.assign(state, question(params));
  state.k = whole(params.get("k"), 1, DEFAULT_K);
  state.radius = whole(params.get("radius"), 0, null);
  state.labels = [...new Set(params.getAll("label"))];
  state.where = params.get("where") ?? "";
  state.page = whole(params.get("page"), 1, 1);
  return state;
}

/** What an address asks for: names alone or beside a code, or an item. */
function question(params) {
  const [names, without] = [texts(params, "name"), texts(params, "without")];
  const code = params.get("code")?.trim();
  if (code && !params.get("id")) return { kind: "code", value: code, also: names, without };
  if (names.length) return { kind: "name", value: names[0], also: names.slice(1), without };
  const id = params.get("id")?.trim();
  return id ? { kind: "id", value: id } : {};
}

function texts(params, key) {
  return [...new Set(params.getAll(key).map((text) => text.trim()).filter(Boolean))];
}

/** Whether several names are searched for together, or names and a picture. */
export const isJoint = ({ also, without }) => also.length + without.length > 0;

/** Whether what is searched for has no code, so that no bits are counted. */
export const isNamed = (state) => state.kind === "name" || isJoint(state);

/** The query string of a state, without what is as usual. */
export function write(state) {
  const params = new URLSearchParams();
  if (state.view !== "search") params.set("view", state.view);
  ask(params, state);
  refinements(params, state);
  if (state.kind && state.page > 1) params.set("page", state.page);
  const text = params.toString();
  return text ? `?${text}` : "./";
}

/** The parameters of a search, as the server wants them. */
export function parameters(state) {
  const params = new URLSearchParams();
  ask(params, state);
  refinements(params, state);
  params.set("k", state.k);
  params.set("offset", (state.page - 1) * PAGE);
  params.set("limit", PAGE);
  return params;
}

function ask(params, state) {
  if (!state.kind) return;
  params.set(state.kind, state.value);
  for (const name of state.also) params.append("name", name);
  for (const name of state.without) params.append("without", name);
}

function refinements(params, state) {
  if (state.k !== DEFAULT_K) params.set("k", state.k);
  if (state.radius !== null && !isNamed(state)) params.set("radius", state.radius);
  for (const label of state.labels) params.append("label", label);
  if (state.where) params.set("where", state.where);
}

/** A search for something else with the same refinements, from the first page. */
export function asking(state, kind, value) {
  return { ...state, view: "search", kind, value: String(value), also: [], without: [], page: 1 };
}

function whole(text, least, otherwise) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : otherwise;
}
