/** The names in a state: wanted ones, and ones that are not wanted. */

import { plain } from "./facts.js";
import { isJoint, isPicture, nothing } from "./state.js";

/** All names that are wanted. */
export const wanted = (state) => (state.kind === "name" ? [state.value, ...state.also] : state.also);

/** The part of a state that says what is asked, with other names in it. */
export function withNames(state, names, without) {
  const [also, not] = [distinct(names), distinct(without)];
  if (isPicture(state)) return { also, without: not };
  const [value = "", ...others] = also;
  if (!value) return { ...question(nothing()) };
  return { kind: "name", value, model: null, also: others, without: not };
}

const question = ({ kind, value, model, also, without }) => ({ kind, value, model, also, without });

function distinct(names) {
  return [...new Map(names.map((name) => [plain(name), name])).values()];
}

/** Whether what is asked stands as chips in the field; a name that is alone is its text. */
export const isApart = (state) => isPicture(state) || state.kind === "id" || isJoint(state);

/** “dog -cat -polar bear” as names that are wanted and not wanted; “-cat” alone is one that is not. */
export function parts(text) {
  const [first, ...refused] = ` ${text}`.split(/\s-(?=[^\s-])/).map((part) => part.trim());
  const names = first ? [first] : [];
  const without = refused.filter((name) => name && plain(name) !== plain(first));
  return { names, without };
}
