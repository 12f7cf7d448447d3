/** What is asked, as the address bar has it. */

export const PAGE = 60;
export const DEFAULT_K = 60;

/**
 * @typedef {Object} State
 * @property {"search"|"map"} view
 * @property {"name"|"id"|"code"|null} kind what is searched with
 * @property {string} value
 * @property {number} k
 * @property {number|null} radius
 * @property {string[]} labels
 * @property {string} where
 * @property {number} page from 1
 */

/** @returns {State} the state in which nothing is asked */
export function nothing() {
  return { view: "search", kind: null, value: "", k: DEFAULT_K, radius: null, labels: [], where: "", page: 1 };
}

/**
 * @param {string} search the query string of an address
 * @returns {State}
 */
export function read(search) {
  const params = new URLSearchParams(search);
  const state = nothing();
  if (params.get("view") === "map") state.view = "map";
  for (const kind of ["name", "id", "code"]) {
    if (state.kind === null && params.get(kind)) {
      state.kind = kind;
      state.value = params.get(kind).trim();
    }
  }
  state.k = whole(params.get("k"), 1, DEFAULT_K);
  state.radius = whole(params.get("radius"), 0, null);
  state.labels = [...new Set(params.getAll("label"))];
  state.where = params.get("where") ?? "";
  state.page = whole(params.get("page"), 1, 1);
  return state;
}

/** The query string of a state, without what is as usual. */
export function write(state) {
  const params = new URLSearchParams();
  if (state.view === "map") params.set("view", "map");
  if (state.kind) params.set(state.kind, state.value);
  refinements(params, state);
  if (state.kind && state.page > 1) params.set("page", state.page);
  const text = params.toString();
  return text ? `?${text}` : "./";
}

/** The parameters of a search, as the server wants them. */
export function parameters(state) {
  const params = new URLSearchParams();
  if (state.kind) params.set(state.kind, state.value);
  refinements(params, state);
  params.set("k", state.k);
  params.set("offset", (state.page - 1) * PAGE);
  params.set("limit", PAGE);
  return params;
}

function refinements(params, state) {
  if (state.k !== DEFAULT_K) params.set("k", state.k);
  if (state.radius !== null && state.kind !== "name") params.set("radius", state.radius);
  for (const label of state.labels) params.append("label", label);
  if (state.where) params.set("where", state.where);
}

/** A search for something else with the same refinements, from the first page. */
export function asking(state, kind, value) {
  return { ...state, view: "search", kind, value: String(value), page: 1 };
}

function whole(text, least, otherwise) {
  return text !== null && /^\d{1,9}$/.test(text) && Number(text) >= least ? Number(text) : otherwise;
}
