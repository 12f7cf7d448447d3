/** What the map says in words. */

import { count, plural } from "./dom.js";
import { nameOf } from "./facts.js";
import { short } from "./signs.js";

const LISTED = 5;

/** What people call an item: some albums were made from numbers, without pictures. */
const thing = ({ info }) => (info.extractor ? "picture" : "item");

/** Why there is no map to see. */
export function waiting(state, items, facts) {
  const words = {
    computing: `The map of ${plural(items, thing(facts))} is being drawn. This page waits for it.`,
    empty: "There is nothing to draw yet: the album is empty.",
  };
  return words[state] ?? "The map could not be made. The server's log says why.";
}

/** The category of an item. */
export function labelOf(category, facts) {
  if (!category) return facts.info.n_labels ? "no label" : "";
  return category.recognised ? `looks like ${short(category.label)}` : short(category.label);
}

/** What is on the map. */
export function summary({ items, total, categories }, facts) {
  const part = items < total ? `${count(items)} of ${plural(total, thing(facts))}` : plural(items, thing(facts));
  const own = categories.filter(({ recognised }) => !recognised);
  const unseen = own.filter(({ seen }) => !seen).map(({ label }) => nameOf(label));
  const some = unseen.length > LISTED ? `${unseen.slice(0, LISTED).join(", ")} and others` : unseen.join(", ");
  const told = facts.marks && unseen.length;
  const rest = told ? `, ${count(unseen.length)} of them unseen in training: ${some}` : "";
  const kinds = own.length === 1 ? " in one category" : ` in ${count(own.length)} categories`;
  const guessed = own.length < categories.length;
  const labelled = own.reduce((sum, category) => sum + category.items, 0);
  const both = guessed && own.length ? `, ${count(labelled)} of them with a label, the others` : ",";
  const how = guessed ? `${both} coloured by what the program recognises` : own.length ? kinds : ", none with a label";
  return `${part}${how}${rest}. What looks alike lies close together.`;
}
