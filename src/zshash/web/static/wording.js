/** Sentences of the page that do not depend on an answer. */

import { isCode } from "./codes.js";
import { isValues } from "./state.js";

/** What is wrong with what an address asks for, or nothing. */
export function nonsense({ kind, value }, bits) {
  if (kind === "id" && !/^\d{1,18}$/.test(value)) return `There is no item “${value}”: items have numbers.`;
  if (kind === "values" && !isValues(value, bits)) return "This link is not complete, or it is from another album: the picture in it can not be read.";
  if (kind !== "code" || isCode(value, bits)) return "";
  return `“${value}” is no code of this collection: a code has ${2 * Math.ceil(bits / 8)} hexadecimal digits.`;
}

/** What stands in the empty search field; an example is a name that finds something here. */
export function placeholder({ name, picture }, example) {
  if (!name) return picture ? "Drop in a picture" : "#12 for picture 12";
  return example ? `What to look for, such as “${example}”` : "What to look for";
}

/** What stands below the search field. */
export function hint() {
  const touched = matchMedia("(hover: none)").matches;
  return touched ? "Or take a picture to find others like it." : "Or drop a picture anywhere on this page to find others like it.";
}

/** “a”, “a and b”, “a, b and c”. */
export function listed(words) {
  if (words.length < 2) return words.join("");
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A text in quotation marks, cut where it is long. */
export const quoted = (text) => `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
