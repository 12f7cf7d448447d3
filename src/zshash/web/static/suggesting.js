/** Names with a word that begins as what is typed: a combobox as ARIA describes it, with a list of options. */

import { ask, overtaken } from "./api.js";
import { byId, count, el, later, show } from "./dom.js";
import { nameOf, plain } from "./facts.js";

const SHOWN = 8;
const PAUSE = 120; // milliseconds in which nothing is typed

/** The list below the search field. */
export class Suggesting {
  /** @param {{chosen: (name: string, before: string) => void, wanted: () => boolean, leave: () => boolean}} told */
  constructor(told) {
    this.told = told;
    this.field = byId("query");
    this.list = byId("suggestions");
    this.names = [];
    this.at = -1;
    this.turn = 0;
    this.soon = later(PAUSE, (turn) => turn === this.turn && this.ask());
    this.field.addEventListener("input", () => this.soon(this.turn));
    this.field.addEventListener("keydown", (event) => this.press(event));
    this.field.addEventListener("blur", () => this.close());
    this.list.addEventListener("pointerdown", (event) => event.preventDefault()); // the field keeps the focus
    this.list.addEventListener("click", (event) => {
      const option = event.target.closest("[role=option]");
      if (option) this.choose(Number(option.dataset.at));
    });
  }

  get isOpen() {
    return !this.list.hidden;
  }

  /** The name that is being typed, behind the minus of what is not wanted. */
  get begun() {
    return this.field.value.slice(this.before.length).trim();
  }

  /** What is typed before it. */
  get before() {
    return /^(.*\s)?-/.exec(this.field.value)?.[0] ?? "";
  }

  async ask() {
    const begins = this.begun;
    if (!begins || begins[0] === "#" || !this.told.wanted() || document.activeElement !== this.field) return this.close();
    const { turn } = this;
    try {
      const { names } = await ask("names", { params: new URLSearchParams({ begins, limit: SHOWN }), slot: "names" });
      if (turn === this.turn && begins === this.begun) this.show(names);
    } catch (error) {
      if (!overtaken(error)) this.close();
    }
    return null;
  }

  show(names) {
    this.names = names;
    this.list.replaceChildren(...names.map((name, at) => this.option(name, at)));
    show(this.list, names.length > 0);
    this.field.setAttribute("aria-expanded", String(names.length > 0));
    this.mark(-1);
  }

  option({ name, text, items }, at) {
    const shown = text || nameOf(name);
    return el("li", { id: `suggestion-${at}`, role: "option", "aria-selected": "false", "data-at": at },
      el("span", {}, ...marked(shown, this.begun)), items ? el("span", { class: "number" }, `${count(items)} labelled`) : null);
  }

  mark(at) {
    this.at = at;
    for (const [place, option] of [...this.list.children].entries()) option.setAttribute("aria-selected", String(place === at));
    if (at < 0) this.field.removeAttribute("aria-activedescendant");
    else this.field.setAttribute("aria-activedescendant", `suggestion-${at}`);
    this.list.children[at]?.scrollIntoView({ block: "nearest" });
  }

  press(event) {
    if (event.isComposing || event.altKey || event.ctrlKey || event.metaKey) return;
    const n = this.names.length;
    const moves = { ArrowDown: this.at + 1, ArrowUp: this.at < 0 ? n - 1 : this.at - 1 };
    if (this.isOpen && event.key in moves) this.mark(moves[event.key] >= n ? -1 : moves[event.key]);
    else if (this.isOpen && event.key === "Enter" && this.at >= 0) this.choose(this.at);
    else if (this.isOpen && event.key === "Escape") this.close();
    else if (event.key !== "ArrowDown" || !this.told.leave()) return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose(at) {
    const { name } = this.names[at];
    const { before } = this;
    this.close();
    this.told.chosen(name, before);
  }

  close() {
    this.turn += 1; // what is under way comes too late
    this.names = [];
    show(this.list, false);
    this.field.setAttribute("aria-expanded", "false");
    this.mark(-1);
  }
}

/** A name in which the word that is being typed is marked. */
function marked(name, typed) {
  const at = ` ${plain(name)}`.indexOf(` ${plain(typed)}`);
  if (at < 0) return [name];
  return [name.slice(0, at), el("b", {}, name.slice(at, at + typed.length)), name.slice(at + typed.length)];
}
