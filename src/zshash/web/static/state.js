/** What is asked, as the address bar has it. */

export const PAGE = 60;
const MOST = 1000; // pictures that a search lists, because nobody looks at more
const VIEWS = ["map", "copies"]; // beside the search
const VALUES = /^[\w-]+$/;

/**
 * @typedef {Object} State
 * @property {"search"|"map"|"copies"} view
 * @property {"name"|"id"|"values"|"code"|null} kind what is searched with: a picture has become values or a code
 * @property {string} value
 * @property {string|null} model the model that made the values or the code
 * @property {string[]} also further names that are searched for together with it
 * @property {string[]} without names of what is not wanted
 * @property {number|null} k how many at most, where that is said
 * @property {number|null} radius
 * @property {string[]} labels
 * @property {string[]} where conditions
 */

/** @returns {State} the state in which nothing is asked */
export function nothing() {
  const asked = { kind: null, value: "", model: null, also: [], without: [] };
  return { view: "search", ...asked, k: null, radius: null, labels: [], where: [] };
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
  state.k = whole(params.get("k"), 1);
  state.radius = whole(params.get("radius"), 0);
  state.labels = [...new Set(params.getAll("label"))];
  state.where = texts(params, "where");
  return state;
}

/** What an address asks for: names alone or beside a picture, or an item. */
function question(params) {
  const [names, without] = [texts(params, "name"), texts(params, "without")];
  const id = params.get("id")?.trim();
  for (const kind of id ? [] : ["values", "code"]) {
    const value = params.get(kind)?.trim();
    if (value) return { kind, value, model: params.get("model"), also: names, without };
  }
  if (names.length) return { kind: "name", value: names[0], also: names.slice(1), without };
  return id ? { kind: "id", value: id } : {};
}

function texts(params, key) {
  return [...new Set(params.getAll(key).map((text) => text.trim()).filter(Boolean))];
}

/** Whether several names are searched for together, or names and a picture. */
export const isJoint = ({ also, without }) => also.length + without.length > 0;

/** Whether what is searched for has no code, so that no bits are counted. */
export const isNamed = (state) => state.kind === "name" || isJoint(state);

/** Whether a picture is searched with, of which the address has values or a code. */
export const isPicture = ({ kind }) => kind === "values" || kind === "code";

/** Whether fewer items are searched than there are. */
export const isNarrowed = ({ labels, where, radius, k }) => labels.length + where.length > 0 || radius !== null || k !== null;

/** The query string of a state, without what is as usual. */
export function write(state) {
  const params = new URLSearchParams();
  if (state.view !== "search") params.set("view", state.view);
  ask(params, state);
  if (state.k !== null) params.set("k", state.k);
  narrow(params, state, state.where);
  const text = params.toString();
  return text ? `?${text}` : "./";
}

/**
 * The parameters of a search, as the server wants them.
 * @param {State} state
 * @param {{offset?: number, limit?: number}} [part]
 */
export function parameters(state, { offset = 0, limit = PAGE } = {}) {
  const params = new URLSearchParams();
  ask(params, state);
  narrow(params, state, joined(state.where));
  params.set("k", Math.min(state.k ?? MOST, MOST));
  params.set("offset", offset);
  params.set("limit", limit);
  return params;
}

function ask(params, state) {
  if (!state.kind) return;
  params.set(state.kind, state.value);
  if (state.model) params.set("model", state.model);
  for (const name of state.also) params.append("name", name);
  for (const name of state.without) params.append("without", name);
}

function narrow(params, state, where) {
  if (state.radius !== null && !isNamed(state) && state.kind !== "values") params.set("radius", state.radius);
  for (const label of state.labels) params.append("label", label);
  for (const condition of where) params.append("where", condition);
}

/**
 * Conditions as one, in a list, or as none. Two conditions on the same field that can not both hold, such as two
 * years, are alternatives; all others hold together.
 */
export function joined(conditions) {
  const groups = new Map();
  for (const condition of conditions) {
    const field = fieldOf(condition) ?? condition;
    groups.set(field, [...(groups.get(field) ?? []), condition]);
  }
  const parts = [...groups.values()].map((group) => group.map((one) => `(${one})`).join(" or "));
  if (conditions.length < 2) return [...conditions];
  return [parts.map((part) => `(${part})`).join(" and ")];
}

/** The field of a condition that says what it is, such as a year or a place; undefined for all others. */
export function fieldOf(condition) {
  const plain = /^(\w+) = ('(?:[^']|'')*'|[\d.-]+)$/.exec(condition);
  return plain?.[1] ?? /^year = \d+ and (month) = \d+$/.exec(condition)?.[1] ?? /^(latitude) >= /.exec(condition)?.[1];
}

/** A search for something else, which begins without filters. */
export function fresh(kind, value, more = {}) {
  return { ...nothing(), kind, value: String(value), ...more };
}

/** The same, for those who have a state at hand. */
export const asking = (state, kind, value) => fresh(kind, value);

/** The filters of a state. */
export const filters = ({ labels, where, radius, k }) => ({ labels, where, radius, k });

/** Whether a text can be the real values of a code of so many bits. */
export const isValues = (text, bits) => VALUES.test(text) && text.length === Math.ceil((16 * bits) / 6);

function whole(text, least) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : null;
}
