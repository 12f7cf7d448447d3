/** Sentences of the page that do not depend on an answer. */

import { isCode } from "./codes.js";

/** What is wrong with what an address asks for, or nothing. */
export function nonsense({ kind, value }, bits) {
  if (kind === "id" && !/^\d{1,18}$/.test(value)) return `There is no item “${value}”: items have numbers.`;
  if (kind !== "code" || isCode(value, bits)) return "";
  return `“${value}” is no code of this collection: a code has ${2 * Math.ceil(bits / 8)} hexadecimal digits.`;
}

/** What stands in the empty search field. */
export function placeholder(byName) {
  if (!byName) return "#12 for an item";
  return matchMedia("(max-width: 30rem)").matches ? "A name, or #12" : "The name of something, or #12 for an item";
}

/** What stands below the search field. */
export function hint() {
  const touched = matchMedia("(hover: none)").matches;
  return touched ? "Or search with a picture." : "Or drop or paste a picture anywhere on this page.";
}
