/** What the server says of the collection, and which categories its model has seen. */

import { ask } from "./api.js";
import { el } from "./dom.js";

const names = new Map();

/** A label as people read it: an id of WordNet as what it means, a key such as crane.n.05 as a word. */
export function nameOf(label) {
  const key = /^(.+)\.n\.\d{1,3}$/.exec(label);
  return names.get(label) ?? (key ? key[1].replaceAll("_", " ") : label);
}

/** Facts about the collection, read again with `refresh`. */
export class Facts {
  constructor(info) {
    this.take(info);
  }

  static async read() {
    return new Facts(await ask("info"));
  }

  async refresh() {
    this.take(await ask("info"));
  }

  take(info) {
    this.info = info;
    names.clear();
    for (const [label, name] of Object.entries(info.names)) names.set(label, name);
    this.seen = new Set(info.seen.map(plain));
    for (const { label, seen } of info.labels) if (seen) this.seen.add(plain(label));
  }

  /** Whether to tell seen from unseen: only models that know no more than their labels need it. */
  get marks() {
    return this.seen.size > 0 && !this.info.searches.names;
  }

  isSeen(name) {
    return this.seen.has(plain(name));
  }
}

/** A name as it is compared: without case, hyphens, underscores and accents. */
export const plain = (name) =>
  name.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "").replace(/[\s_\u2010-\u2015-]+/g, " ").trim();

/** A label as people read it. */
export const tag = (facts, label) => el("span", { class: "tag" }, el("span", { class: "name" }, nameOf(label)));
