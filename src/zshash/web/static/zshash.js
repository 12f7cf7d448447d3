/**
 * A client of `zshash serve`, for browsers and for Node 18 and later. One file that needs no other.
 *
 *     import { Client } from "http://127.0.0.1:8000/static/zshash.js";
 *     const album = new Client("http://127.0.0.1:8000");
 *     const { results } = await album.search({ name: "dog", without: "snow", k: 20 });
 */

const JSON_TYPE = "application/json";
const LINES = "application/x-ndjson";
const OCTETS = "application/octet-stream";
const COUNT = 20; // results of a search that does not say how many
const PAGE = 200; // results of one answer
const MOST = 10_000; // results of one search, on all its answers
const FILES = 16; // pictures that are sent together
const EVERY = 500; // milliseconds between two looks at work that takes a while

/**
 * @typedef {Object} Item An item of the collection.
 * @property {number} id
 * @property {string} code its packed code, in hexadecimal digits
 * @property {string[]} labels
 * @property {?string} file name of the picture's file
 * @property {Object<string, any>} metadata
 * @property {boolean} thumbnail whether it has a small picture
 * @property {?number[]} size width and height of its picture in pixels
 */

/** @typedef {Item & {score: number, bits: ?number}} Result An item that was found. */

/**
 * @typedef {Object} Answer What a search has found.
 * @property {Object} query what was searched for: its `code`, `values` and `model`, its `reading`, and `nothing`
 * @property {number} total how many results there are from the first on
 * @property {number} all how many items were searched, or are within the radius
 * @property {number} offset
 * @property {Result[]} results best first
 */

/** @typedef {Blob|File|ArrayBuffer|Uint8Array} Picture The bytes of a picture's file. */

/**
 * @typedef {Object} Page Which items count, and how many are wanted.
 * @property {number} [k] how many; without it 20 (in batches 10), and with a radius all that are within it
 * @property {number} [offset] how many of the best to leave out
 * @property {string} [where] a condition, such as "year > 2015"
 * @property {string|string[]} [label] only items with one of these labels
 * @property {number} [radius] only items whose codes differ in at most so many bits
 * @property {"real"|"bits"} [distance]
 * @property {AbortSignal} [signal] ends the request
 */

/**
 * @typedef {Object} Wanted What to search for: one of item, picture, features, values and code, or names;
 *   names may also stand beside a picture, features or values.
 * @property {string|string[]} [name] names, such as "dog"; "dog:2" counts twice
 * @property {string|string[]} [without] names of what is not wanted
 * @property {number} [item] id of an item
 * @property {Picture} [picture]
 * @property {Float32Array|number[]} [features]
 * @property {string|number[]} [values] real values, as `query.values` of an answer
 * @property {string|Uint8Array} [code] a packed code; a text is in hexadecimal digits
 * @property {string} [model] the model that made the code or the values, as `query.model` of an answer
 */

/** A server refused a request, or could not answer it. */
export class ServerError extends Error {
  /**
   * @param {number} status such as 404
   * @param {string} detail what is wrong, in one sentence of the server
   * @param {Object<string, string[]>} suggestions names that nobody knows, and some that look like them
   */
  constructor(status, detail, suggestions = {}) {
    super(`${detail} (status ${status})`);
    Object.assign(this, { name: "ServerError", status, detail, suggestions });
  }
}

/** A collection that `zshash serve` serves. */
export class Client {
  /**
   * @param {string} [address] such as "http://127.0.0.1:8000"; without it, the server that this file is from
   * @param {{token?: string, retries?: number}} [options] `token` of the server, if it asks for one; `retries`:
   *   how often a request is sent again that the server was too busy for
   */
  constructor(address = new URL("..", import.meta.url).href, { token, retries = 5 } = {}) {
    if (!/^https?:\/\/./.test(address)) {
      throw new TypeError(`"${address}" is no address such as http://127.0.0.1:8000`);
    }
    this.address = address.replace(/\/+$/, "");
    this.token = token;
    this.retries = retries;
  }

  /** Facts about the collection and the server. */
  info({ signal } = {}) {
    return this.#json("info", { signal });
  }

  /**
   * The items that fit best, best first, from as many answers of the server as they need.
   * @param {Wanted & Page} query
   * @returns {Promise<Answer>}
   */
  async search({ k, offset = 0, signal, ...query }) {
    const count = k ?? (query.radius === undefined ? COUNT : MOST);
    const last = Math.min(offset + count, MOST);
    let found = null;
    for (let at = offset; ; at += PAGE) {
      const page = { k: query.radius === undefined ? Math.max(last, 1) : MOST, offset: at };
      page.limit = Math.min(PAGE, Math.max(last - at, 1));
      const answer = await this.#json("search", { ...asked({ ...query, ...page }), signal });
      if (found === null) found = answer;
      else found.results.push(...answer.results);
      if (answer.results.length < PAGE || at + PAGE >= last) return found;
    }
  }

  /**
   * Answers to many searches that are not by picture, in one request.
   * @param {Wanted[]} queries at most 1,024
   * @param {Page} how what all searches share
   * @returns {Promise<Answer[]>}
   */
  async searchMany(queries, { k = 10, offset = 0, signal, ...how } = {}) {
    const body = { queries: queries.map(told), ...told(how), k: offset + k, offset };
    return (await this.#json("search/batch", { body, signal })).answers;
  }

  /**
   * Ids and scores of the items nearest to many rows of features: the quickest way.
   * @param {Float32Array|Float32Array[]} features at most 1,024 rows, in one piece or one by one
   * @param {Page} how
   * @returns {Promise<{ids: number[], scores: Float32Array}[]>} for each row
   */
  async nearest(features, { k = 10, offset = 0, signal, ...how } = {}) {
    const body = new Blob([features].flat());
    const query = { ...told(how), k: offset + k, offset };
    const response = await this.#ask("search/batch", { query, body, kind: OCTETS, accept: OCTETS, signal });
    return unpacked(await response.arrayBuffer());
  }

  /**
   * All items, or those that meet a condition, one after the other as they come.
   * @param {{where?: string, label?: string|string[], signal?: AbortSignal}} how
   * @returns {AsyncGenerator<Item>}
   */
  async *items({ signal, ...query } = {}) {
    const response = await this.#ask("items", { query, accept: LINES, signal });
    for await (const line of lines(response.body)) yield JSON.parse(line);
  }

  /** Names of which a word begins so: labels, what the network knows, other nouns. */
  async names(begins, { limit = 8, signal } = {}) {
    return (await this.#json("names", { query: { begins, limit }, signal })).names;
  }

  /**
   * Add pictures.
   * @param {Picture|Picture[]} pictures
   * @param {{labels?: string|string[], signal?: AbortSignal}} how `labels` are those of all of them
   * @returns {Promise<{added: number[], duplicates: number[], failures: Object[]}>}
   */
  async add(pictures, { labels = [], signal } = {}) {
    const files = [pictures].flat();
    const report = { added: [], duplicates: [], failures: [] };
    for (let start = 0; start < files.length; start += FILES) {
      const body = new FormData();
      for (const label of [labels].flat()) body.append("label", label);
      for (const file of files.slice(start, start + FILES)) body.append("picture", ...named(file));
      const part = await this.#json("items", { body, signal });
      for (const name of Object.keys(report)) report[name].push(...part[name]);
    }
    return report;
  }

  /**
   * Remove items; a promise of the key that `restore` takes to undo it, or null if it can not be undone.
   * @param {number|number[]} ids
   * @param {{forGood?: boolean, signal?: AbortSignal}} options `forGood`: nothing of the items is kept
   */
  async remove(ids, { forGood = false, signal } = {}) {
    const body = { ids: [ids].flat(), for_good: forGood };
    return (await this.#json("items/remove", { body, signal })).undo;
  }

  /** Bring back what `remove` has removed; a promise of the ids. */
  async restore(undo, { signal } = {}) {
    return (await this.#json("items/restore", { body: { undo }, signal })).restored;
  }

  /**
   * Give items a label: in place of theirs ("set"), "also", or take it away ("without").
   * @param {number|number[]} ids
   * @param {?string} label null takes all labels away
   * @param {{how?: "set"|"also"|"without", signal?: AbortSignal}} options
   */
  async label(ids, label, { how = "set", signal } = {}) {
    return (await this.#json("items/label", { body: { ids: [ids].flat(), label, how }, signal })).labelled;
  }

  /**
   * A file of items, given by ids or by a condition: a table, JSON, or an archive with pictures.
   * @param {{form: "csv"|"json"|"zip", ids?: number[], where?: string, label?: string|string[], signal?: AbortSignal}} what
   * @returns {Promise<Blob>}
   */
  async export({ signal, ...what }) {
    return (await this.#ask("items/export", { body: told(what), accept: "*/*", signal })).blob();
  }

  /** Groups of copies of one picture ("same"), or of items that look alike ("alike"). */
  duplicates({ signal, ...query } = {}) {
    return this.#json("duplicates", { query, signal });
  }

  /** Keep all items of a group of copies: it is not shown again. */
  async keep(key, { signal } = {}) {
    return (await this.#json("duplicates/keep", { body: { key }, signal })).key;
  }

  /** Show a group of copies again that was kept. */
  async forget(key, { signal } = {}) {
    return (await this.#json("duplicates/forget", { body: { key }, signal })).key;
  }

  /**
   * Have the model learn again from all items.
   * @param {{wait?: boolean, seen?: (state: Object) => void, signal?: AbortSignal}} options `wait` for the end;
   *   `seen` is called with each state of the work
   * @returns {Promise<Object>} the last state
   */
  async refit({ wait = true, seen = () => {}, signal } = {}) {
    let state = await this.#json("refit", { method: "POST", signal });
    seen(state);
    while (wait && state.state === "running") {
      await pause(EVERY, signal);
      state = await this.#json("refit", { signal });
      seen(state);
    }
    return state;
  }

  /** Address of the small picture of an item, for `<img>`; where a token is asked for, use `thumbnail`. */
  thumbnailAddress(id) {
    return this.#address(`items/${id}/thumbnail`);
  }

  /** Address of the picture of an item, its longer side about `side` pixels; `download` to keep it as a file. */
  pictureAddress(id, { side, download } = {}) {
    return this.#address(`items/${id}/picture`, { side, download });
  }

  /** The small picture of an item. */
  async thumbnail(id, { signal } = {}) {
    return (await this.#ask(`items/${id}/thumbnail`, { accept: "image/*", signal })).blob();
  }

  /** The picture of an item, its longer side about `side` pixels. */
  async picture(id, { side, signal } = {}) {
    return (await this.#ask(`items/${id}/picture`, { query: { side }, accept: "image/*", signal })).blob();
  }

  async #json(path, request) {
    return (await this.#ask(path, request)).json();
  }

  /** A good answer; while the server is too busy, the request is sent again. */
  async #ask(path, { query, body, kind, accept = JSON_TYPE, signal, method = body ? "POST" : "GET" }) {
    const headers = { Accept: accept };
    if (this.token) headers.Authorization = `Bearer ${this.token}`;
    const isPlain = body !== undefined && !(body instanceof Blob) && !(body instanceof FormData);
    if (body !== undefined && !(body instanceof FormData)) headers["Content-Type"] = kind ?? JSON_TYPE;
    const request = { method, headers, body: isPlain ? JSON.stringify(body) : body, signal };
    for (let left = this.retries; ; left--) {
      const response = await fetch(this.#address(path, query), request);
      if (response.ok) return response;
      if (response.status !== 429 || left <= 0) throw await failure(response);
      await response.arrayBuffer(); // so that its connection is used again
      await pause(1000 * seconds(response), signal);
    }
  }

  #address(path, query = {}) {
    const pairs = Object.entries(query).flatMap(([name, own]) => [own].flat().map((value) => [name, value]));
    const given = pairs.filter(([, value]) => value !== undefined && value !== null);
    const search = given.length ? `?${new URLSearchParams(given)}` : "";
    return `${this.address}/api/v1/${path}${search}`;
  }
}

/** Body and parameters of a search; the bytes of a picture or of features are the body. */
function asked({ picture, features, ...query }) {
  if (picture === undefined && !(features instanceof Float32Array)) return { body: told({ features, ...query }) };
  if (picture === undefined) return { body: new Blob([features]), kind: OCTETS, query: told(query) };
  return { body: new Blob([picture]), kind: "image/*", query: told(query) };
}

/** A search as the server takes it. */
function told({ item, code, features, name, without, label, ...query }) {
  const isBytes = code instanceof Uint8Array;
  const given = { ...query, id: item, code: isBytes ? hexadecimal(code) : code };
  if (features !== undefined) given.features = Array.from(features);
  for (const [key, own] of Object.entries({ name, without, label })) {
    if (own !== undefined) given[key] = [own].flat();
  }
  return given;
}

const hexadecimal = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** A picture as a form takes it: its bytes, and its name if it has one. */
function named(picture) {
  return picture instanceof Blob ? [picture] : [new Blob([picture]), "picture"];
}

/** Ids and scores of each row in a packed answer; −1 stands for no more items. */
function unpacked(buffer) {
  const [n, k] = new Uint32Array(buffer, 0, 2);
  const ids = Array.from(new BigInt64Array(buffer, 8, n * k), Number);
  const scores = new Float32Array(buffer, 8 + 8 * n * k, n * k);
  return Array.from({ length: n }, (_, row) => {
    const own = ids.slice(row * k, (row + 1) * k);
    const count = own.includes(-1) ? own.indexOf(-1) : k;
    return { ids: own.slice(0, count), scores: scores.slice(row * k, row * k + count) };
  });
}

/** The lines of a body as they come; leaving the loop ends the answer. */
async function* lines(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const { value, done } = await reader.read();
      const parts = (rest + decoder.decode(value, { stream: !done })).split("\n");
      rest = parts.pop();
      for (const line of parts) if (line) yield line;
      if (done) break;
    }
    if (rest) yield rest;
  } finally {
    await reader.cancel();
  }
}

/** The error that an answer tells of. */
async function failure(response) {
  try {
    const { detail, suggestions } = await response.json();
    if (typeof detail === "string") return new ServerError(response.status, detail, suggestions);
  } catch {
    // a proxy answers without JSON
  }
  return new ServerError(response.status, "the server answered without saying why");
}

/** How long the server says to wait. */
function seconds(response) {
  const told = Number.parseFloat(response.headers.get("Retry-After") ?? "");
  return Number.isFinite(told) ? told : 1;
}

/** A pause that a signal ends, with its reason. */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", stop, { once: true });
  });
}
