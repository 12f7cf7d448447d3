/** Names beside what is searched for: further ones, and ones that are not wanted. */

import { byId, el, show } from "./dom.js";
import { nameOf, plain } from "./facts.js";
import { spoken } from "./reading.js";

/** A field to add names, and chips to take them away again. */
export class Words {
  /** @param {(part: Object) => void} change */
  constructor(change) {
    this.change = change;
    this.state = null;
    byId("words-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.add(event.submitter?.value ?? "also", byId("word").value.trim());
    });
  }

  /** Make chips and field those of a state; names can only be added where `possible`. */
  show(state, possible, reading = null) {
    this.state = state;
    show(byId("words-form"), possible);
    const chips = [
      ...state.also.map((name) => this.chip("also", name, spoken(name, reading))),
      ...state.without.map((name) => this.chip("without", name, spoken(name, reading))),
    ];
    byId("words").replaceChildren(...chips);
    show(byId("words"), chips.length > 0);
  }

  add(how, name) {
    const { kind, value } = this.state;
    if (!name) return byId("word").focus();
    byId("word").value = "";
    const others = (names) => names.filter((own) => plain(own) !== plain(name));
    const part = { also: others(this.state.also), without: others(this.state.without) };
    if (kind === "name" && plain(value) === plain(name)) return null;
    part[how].push(name);
    return this.change(part);
  }

  chip(how, name, words) {
    const text = how === "also" ? `and ${words}` : `not ${words}`;
    const remove = () => this.change({ [how]: this.state[how].filter((own) => own !== name) });
    return el("li", {}, el("button",
      { type: "button", class: `chip word is-${how}`, "aria-label": `Remove “${text}”`, onclick: remove },
      text, el("span", { "aria-hidden": "true" }, "×")));
  }
}

/** “dog -cat -polar bear” as a name, and names that are not wanted. */
export function parts(text) {
  const [value, ...without] = text.split(/\s+-(?=[^\s-])/).map((part) => part.trim()).filter(Boolean);
  return { value, without: without.filter((name) => plain(name) !== plain(value)) };
}

/** What is asked in words, for the title of the window. */
export function inWords({ value, also, without }) {
  const [others, unwanted] = [also.map(nameOf), without.map(nameOf)];
  return [nameOf(value), ...others.map((name) => `and ${name}`), ...unwanted.map((name) => `not ${name}`)].join(" ");
}
