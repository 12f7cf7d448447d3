/** What an album can be narrowed by, besides labels: years and months, cameras, places. */

import { ask, overtaken } from "./api.js";
import { byId, count, el } from "./dom.js";

const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
const SHOWN = 12;

/** A condition as people read it. */
export function said(condition) {
  const month = /^year = (\d+) and month = (\d{1,2})$/.exec(condition);
  if (month && MONTHS[month[2] - 1]) return `${MONTHS[month[2] - 1]} ${month[1]}`;
  const year = /^year = (\d+)$/.exec(condition);
  if (year) return year[1];
  const camera = /^camera = '((?:[^']|'')*)'$/.exec(condition);
  if (camera) return camera[1].replaceAll("''", "'");
  const place = /^latitude >= (-?[\d.]+) and latitude < (-?[\d.]+) and longitude >= (-?[\d.]+) and longitude < (-?[\d.]+)$/.exec(condition);
  return place ? placed((+place[1] + +place[2]) / 2, (+place[3] + +place[4]) / 2) : condition;
}

/** “48.1° N, 11.6° E”. */
export function placed(latitude, longitude) {
  const part = (value, positive, negative) => `${Math.abs(value).toFixed(1)}° ${value < 0 ? negative : positive}`;
  return `${part(latitude, "N", "S")}, ${part(longitude, "E", "W")}`;
}

/** The groups of choices in the panel of filters. */
export class Facets {
  /** @param {(part: Object) => void} change */
  constructor(change) {
    this.change = change;
    this.known = null;
    this.unfolded = new Set();
  }

  /** Ask the server which there are. */
  async ask() {
    try {
      this.known = await ask("facets", { slot: "facets" });
    } catch (error) {
      if (overtaken(error)) return;
      this.known = null;
    }
    if (this.state) this.show(this.state);
  }

  show(state) {
    this.state = state;
    const { years = [], months = [], cameras = [], places = [] } = this.known ?? {};
    const open = new Set(state.where.map((one) => /^year = (\d+)/.exec(one)?.[1]));
    const near = months.filter(({ year }) => years.length === 1 || open.has(String(year)));
    byId("facets").replaceChildren(...[
      this.group("Year", years), this.group("Month", near), this.group("Camera", cameras), this.group("Place", places),
    ].filter(Boolean));
  }

  group(title, choices) {
    if (!choices.length) return null;
    const unfolded = this.unfolded.has(title) || choices.length <= SHOWN + 1;
    const shown = unfolded ? choices : choices.slice(0, SHOWN);
    const more = el("button", { type: "button", class: "chip unfold", onclick: () => {
      this.unfolded.add(title);
      this.show(this.state);
    } }, `${count(choices.length - SHOWN)} more`);
    return el("fieldset", {}, el("legend", {}, title),
      el("ul", { class: "chips small" }, ...shown.map((one) => this.choice(one)), unfolded ? null : el("li", {}, more)));
  }

  choice({ where, items }) {
    const chosen = this.state.where.includes(where);
    return el("li", {}, el("button", {
      type: "button", class: "chip", "aria-pressed": String(chosen), "data-where": where, onclick: () => this.toggle(where, chosen),
    }, said(where), el("span", { class: "number" }, count(items))));
  }

  /** A month takes the place of its year. */
  async toggle(where, chosen) {
    const year = /^(year = \d+) and month/.exec(where)?.[1];
    const others = this.state.where.filter((one) => one !== where && one !== year);
    await this.change({ where: chosen ? others : [...others, where] });
    [...byId("facets").querySelectorAll("[data-where]")].find((button) => button.dataset.where === where)?.focus();
  }
}
