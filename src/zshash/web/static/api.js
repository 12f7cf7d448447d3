/** Requests to the server: errors as sentences, tokens, patience, and only the newest of a kind. */

import { back } from "./outage.js";

const TRIES = 4;
const GONE = [502, 504]; // what a proxy says of a server that is gone
const running = new Map();
const hooks = { token: async () => false, busy: () => {} };

/** An answer that is no success, with the server's sentence. */
export class ApiError extends Error {
  /** @param {Object<string, string[]>} suggestions names that nobody knows, and some that look like them */
  constructor(status, message, suggestions = {}) {
    super(message);
    Object.assign(this, { status, suggestions });
  }
}

/**
 * What to do when a token is wanted (a promise of whether there is one now), and what to tell
 * while the server is busy.
 */
export function configure({ token, busy }) {
  Object.assign(hooks, { token, busy });
}

/** Whether a request was given up because a newer one has overtaken it. */
export const overtaken = (error) => error.name === "AbortError";

/**
 * Ask the server.
 * @param {string} path such as "search"
 * @param {{params?: URLSearchParams, method?: string, body?: any, headers?: Object, slot?: string,
 *   form?: "json"|"bytes"}} options `slot`: a request ends the one before it in the same slot
 */
export async function ask(path, options = {}) {
  const stop = new AbortController();
  if (options.slot) {
    running.get(options.slot)?.abort();
    running.set(options.slot, stop);
  }
  const response = await patiently(path, options, stop.signal);
  if (response.status === 204) return null;
  return options.form === "bytes" ? response.arrayBuffer() : response.json();
}

/** Give up what is under way in a slot. */
export function giveUp(slot) {
  running.get(slot)?.abort();
}

/** Address of something that an element loads by itself. */
export const address = (path) => `api/v1/${path}`;

/** Trade a token for a cookie; fails with the server's sentence. */
export async function openSession(token) {
  if (!/^[ -~]*$/.test(token)) throw new ApiError(401, "That is not the right token."); // no header can hold it
  const headers = { Authorization: `Bearer ${token}` };
  const response = await once("session", { method: "POST", headers });
  if (!response.ok) throw await failure(response);
}

async function patiently(path, options, signal) {
  for (let attempt = 1; ; attempt++) {
    const response = await reach(path, options, signal);
    if (response.ok) return response;
    if (response.status === 401 && attempt <= TRIES && (await hooks.token())) continue;
    if (response.status !== 429 || attempt >= TRIES) throw await failure(response);
    const seconds = Math.min(Number(response.headers.get("Retry-After")) || 1, 30);
    hooks.busy(seconds);
    await pause(seconds * 1000, signal);
  }
}

/** An answer, however long the server is gone; what changes something is not sent a second time. */
async function reach(path, options, signal) {
  const reads = (options.method ?? "GET") === "GET" || path === "search";
  for (;;) {
    try {
      const response = await once(path, options, signal);
      if (!reads || !GONE.includes(response.status)) return response;
    } catch (error) {
      if (overtaken(error) || !reads) throw error;
    }
    await Promise.race([back(), ended(signal)]);
  }
}

/** A promise that fails when a signal ends what waits for it. */
function ended(signal) {
  return new Promise((_, reject) => {
    const end = () => reject(new DOMException("overtaken", "AbortError"));
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
  });
}

async function once(path, { params, method = "GET", body, headers }, signal) {
  const query = params ? `?${params}` : "";
  try {
    return await fetch(address(path) + query, { method, body, headers, signal, credentials: "same-origin" });
  } catch (error) {
    if (overtaken(error)) throw error;
    throw new ApiError(0, "The server does not answer. Is it still running?");
  }
}

async function failure(response) {
  let detail = null;
  let suggestions = {};
  try {
    ({ detail, suggestions = {} } = await response.json());
  } catch {
    detail = null;
  }
  if (Array.isArray(detail)) detail = detail.map((one) => one.msg ?? String(one)).join("; ");
  return new ApiError(response.status, sentence(detail || `the server answers with ${response.status}`), suggestions);
}

/** With a capital letter, where a plain word comes first, and a full stop. */
export function sentence(text) {
  if (!text) return "";
  const begun = /^[a-z]+ /.test(text) ? text[0].toUpperCase() + text.slice(1) : text;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("overtaken", "AbortError"));
    });
  });
}
