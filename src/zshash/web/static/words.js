/** What is searched for, as chips in the search field: a picture, names, and names of what is not wanted. */

import { byId, el, show } from "./dom.js";
import { wanted, withNames } from "./names.js";
import { spoken } from "./reading.js";
import { isPicture } from "./state.js";

/** Makes the chips of a state. */
export class Words {
  /** @param {{change: (part: Object) => void, picture: (state: State) => Node}} told */
  constructor(told) {
    this.told = told;
  }

  /**
   * @param {State} state
   * @param {boolean} apart whether what is asked stands as chips
   * @param {Object|null} reading what the server has understood
   */
  show(state, apart, reading = null) {
    this.state = state;
    const chips = apart ? this.chips(reading) : [];
    byId("terms").replaceChildren(...chips);
    show(byId("terms"), chips.length > 0);
  }

  chips(reading) {
    const { state } = this;
    const names = wanted(state);
    const alone = names.length === 1 && !isPicture(state);
    const picture = isPicture(state) || state.kind === "id" ? [this.picture()] : [];
    return [
      ...picture,
      ...names.map((name) => this.chip(name, spoken(name, reading), false, !alone)),
      ...state.without.map((name) => this.chip(name, spoken(name, reading), true, true)),
    ];
  }

  picture() {
    const remove = () => this.told.change(withNames({ ...this.state, kind: "name", value: "" }, this.state.also, this.state.without));
    return el("li", { class: "term is-picture" }, this.told.picture(this.state),
      el("button", { type: "button", class: "away", "aria-label": "Remove the picture", onclick: remove }, "×"));
  }

  chip(name, text, refused, turns) {
    const flip = turns && this.turn(name, text, refused);
    const said = refused ? `not ${text}` : text;
    return el("li", { class: `term ${refused ? "is-without" : "is-wanted"}` }, flip || null,
      el("span", { class: "name" }, text),
      el("button", { type: "button", class: "away", "aria-label": `Remove “${said}”`, onclick: () => this.drop(name) }, "×"));
  }

  /** The button that turns a wanted name into one that is not wanted, and back. */
  turn(name, text, refused) {
    return el("button", {
      type: "button", class: "not", "aria-pressed": String(refused), "aria-label": `Leave out “${text}”`,
      title: refused ? "Look for it after all" : "Leave this out", onclick: () => this.flip(name, refused),
    }, "not");
  }

  flip(name, refused) {
    const [names, without] = this.others(name);
    if (refused) this.told.change(withNames(this.state, [...names, name], without));
    else this.told.change(withNames(this.state, names, [...without, name]));
  }

  drop(name) {
    this.told.change(withNames(this.state, ...this.others(name)));
  }

  others(name) {
    const other = (own) => own !== name;
    return [wanted(this.state).filter(other), this.state.without.filter(other)];
  }
}

/** What is asked in words, for titles. */
export function inWords(state, reading = null) {
  const said = (name) => spoken(name, reading);
  const names = wanted(state).map(said).join(" and ");
  const without = state.without.map((name) => `not ${said(name)}`).join(", ");
  return [names, without].filter(Boolean).join(", but ");
}
