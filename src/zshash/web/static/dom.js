/** Small helpers for elements and for text. */

const SVG = "http://www.w3.org/2000/svg";

/** The element with an id, which must be on the page. */
export const byId = (id) => document.getElementById(id);

/**
 * An element with properties and children; strings become text, never markup.
 * @param {string} tag
 * @param {Object<string, any>} [props] `class`, `data-…`, `aria-…` and other attributes, or `on…` listeners
 * @param {...(Node|string|null)} children
 * @returns {HTMLElement}
 */
export function el(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** The same for a part of a drawing. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), props, children);
}

function fill(node, props, children) {
  for (const [key, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else node.setAttribute(key, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null));
  return node;
}

/** Show or hide. */
export function show(node, visible = true) {
  node.hidden = !visible;
}

/** A number with separators for thousands. */
export const count = (n) => n.toLocaleString("en");

/** “1 item”, “2 items”. */
export const plural = (n, word) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** A number of bytes, as MB or kB. */
export function size(bytes) {
  const [value, unit] = bytes < 1e6 ? [bytes / 1e3, "kB"] : [bytes / 1e6, "MB"];
  return `${value.toFixed(1).replace(".0", "")} ${unit}`;
}

/** A time in the unit that suits it. */
export function duration(seconds) {
  if (seconds < 0.01) return `${(seconds * 1000).toFixed(1)} ms`;
  return seconds < 1 ? `${Math.round(seconds * 1000)} ms` : `${seconds.toFixed(1)} s`;
}

/** Call `task` when there were no further calls for some milliseconds. */
export function later(milliseconds, task) {
  let timer = 0;
  return (...values) => {
    clearTimeout(timer);
    timer = setTimeout(() => task(...values), milliseconds);
  };
}

/** Say something for a moment at the lower edge. */
export function toast(words) {
  const node = byId("toast");
  raise(node);
  node.textContent = words;
  node.classList.add("shown");
  clearTimeout(toast.timer);
  toast.timer = setTimeout(() => node.classList.remove("shown"), 3500);
}

/** Bring a node above an open dialog, which covers all else. */
export function raise(node) {
  ([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body).append(node);
}

/** Whether the focus is nowhere, or on something that is hidden. */
export function lostFocus() {
  const active = document.activeElement;
  return !active || active === document.body || active.closest("[hidden]") !== null;
}

/** Mark a link as that of the current page, or not. */
export function current(link, is) {
  if (is) link.setAttribute("aria-current", "page");
  else link.removeAttribute("aria-current");
}

/** Copy the address of the page, and say so. */
export async function copyLink() {
  try {
    await navigator.clipboard.writeText(location.href);
    toast("The link is in the clipboard.");
  } catch {
    toast("The browser does not let this page copy. The link is the address above.");
  }
}
