/** Copies of pictures to review: which one of a group stays in the album. */

import { address, ask, giveUp, overtaken } from "./api.js";
import { cards, tally } from "./copycards.js";
import { byId, count, el, plural, show } from "./dom.js";

const LIMIT = 20;
const MOST = 100; // groups of one page, when all are asked for
const AT_ONCE = 5000; // items that one request removes
const POLL = 1200;

/** The view. A group that was decided stays where it was, as a line with a way back. */
export class CopiesView {
  /** @param {App} app */
  constructor(app) {
    Object.assign(this, { app, level: "same", shown: 0, timer: 0, isOpen: false });
    byId("copies-same").addEventListener("click", () => this.choose("same"));
    byId("copies-alike").addEventListener("click", () => this.choose("alike"));
    byId("copies-more").addEventListener("click", () => this.load(this.shown));
    byId("copies-all").addEventListener("click", () => this.ask().catch((error) => this.say(error.message)));
    byId("copies-list").addEventListener("keydown", (event) => walk(event));
  }

  title() {
    return "Copies";
  }

  get writable() {
    return this.app.facts.info.writable;
  }

  async open() {
    this.isOpen = true;
    show(byId("copies-read-only"), !this.writable);
    show(byId("copies-help"), this.writable);
    await this.load(0);
  }

  close() {
    this.isOpen = false;
    clearTimeout(this.timer);
    giveUp("copies");
  }

  choose(level) {
    this.level = level;
    return this.load(0);
  }

  /** Show groups from one on; where the server still looks for them, ask again (`again`). */
  async load(offset, { again = false } = {}) {
    clearTimeout(this.timer);
    for (const level of ["same", "alike"]) byId(`copies-${level}`).setAttribute("aria-pressed", String(level === this.level));
    const params = new URLSearchParams({ level: this.level, offset: this.pending(offset), limit: LIMIT });
    try {
      this.take(await ask("duplicates", { params, slot: "copies" }), offset, again);
    } catch (error) {
      if (!overtaken(error)) this.say(error.message);
    }
  }

  /** The server no longer counts groups that were decided here. */
  pending(offset) {
    return offset && byId("copies-list").querySelectorAll(".group:not(.decided)").length;
  }

  take(found, offset, again) {
    const list = byId("copies-list");
    const isNews = !again || found.groups.some(({ key }) => !keysIn(list).has(key));
    if (!offset && isNews) list.replaceChildren(...(again ? list.querySelectorAll(".decided") : []));
    const known = keysIn(list);
    const fresh = found.groups.filter(({ key }) => !known.has(key));
    list.append(...fresh.map((group) => this.group(group)));
    this.shown = list.children.length;
    this.found = found;
    this.progress(found);
    this.say(found.state === "failed" ? failure(found) : this.summary(found));
    show(byId("copies-more"), found.total > this.pending(1) && fresh.length > 0);
    show(byId("copies-all"), this.writable && this.level === "same" && found.total > 0);
    show(byId("copies-sure"), false);
    if (found.state === "computing" && this.isOpen) this.timer = setTimeout(() => this.load(0, { again: true }), POLL);
  }

  progress({ state, done }) {
    const bar = byId("copies-progress");
    show(bar, state === "computing");
    bar.value = done;
  }

  summary({ state, total, done, unknown = 0 }) {
    if (state === "computing") return `Looking for copies: ${Math.round(100 * done)} % of the pictures are compared.`;
    const left = unknown ? ` ${plural(unknown, "item")} could not be compared.` : "";
    if (!total && this.level === "same") return `No copies here: each picture is in the album once.${left}`;
    if (!total) return `No pictures here look so much alike.${left}`;
    const what = this.level === "same" ? "are copies of one picture" : "look much alike, and are often different pictures";
    return `${plural(total, "group")} of pictures that ${what}.${left}`;
  }

  say(words) {
    byId("copies-summary").textContent = words;
  }

  /** One group: its pictures beside each other, and what can be done. */
  group(group) {
    const node = el("li", { class: "group", "data-key": group.key, "aria-label": tally(group) });
    const decide = this.writable ? (id) => this.keepOne(node, group, id) : null;
    const look = (at) => {
      this.pictures = { items: group.items };
      this.app.viewer.open(this.pictures, at);
    };
    const keepAll = this.writable
      ? el("button", { type: "button", class: "quiet keep-all", onclick: () => this.keepAll(node, group) }, "Keep all")
      : null;
    node.append(
      el("div", { class: "bar" }, el("h2", {}, tally(group)), keepAll),
      cards(group, { decide, look, address }));
    return node;
  }

  /** Remove all items of a group but one. */
  async keepOne(node, group, id) {
    const ids = group.items.map((item) => item.id).filter((other) => other !== id);
    const { file } = group.items.find((item) => item.id === id);
    await this.attempt(node, async () => {
      const { undo } = await ask("items/remove", order({ ids }));
      const words = `${file ?? `Item ${id}`} stays. ${plural(ids.length, "copy").replace("copys", "copies")} left the album.`;
      this.decided(node, group, words, undo ? () => ask("items/restore", order({ undo })) : null);
    });
  }

  async keepAll(node, group) {
    await this.attempt(node, async () => {
      const { key } = await ask("duplicates/keep", order({ key: group.key }));
      this.decided(node, group, "All of them stay, and are not shown here again.", () => ask("duplicates/forget", order({ key })));
    });
  }

  /** A line in place of a group, with a way back. */
  decided(node, group, words, back) {
    const undo = back && el("button", { type: "button", class: "way-back", onclick: () => this.attempt(node, async () => {
      await back();
      this.less(-1);
      const again = this.group(group);
      node.replaceWith(again);
      again.querySelector("button").focus();
      await this.app.facts.refresh();
    }) }, "Undo");
    this.less(1);
    node.classList.add("decided");
    node.replaceChildren(el("p", { role: "status" }, words), ...(undo ? [undo] : []));
    const next = foremost(node.nextElementSibling) ?? undo;
    next?.focus();
    this.app.facts.refresh();
  }

  /** So many groups are decided. */
  less(n) {
    this.found = { ...this.found, total: this.found.total - n };
    const left = this.found.total > 0;
    this.say(left || !document.querySelector("#copies-list .group") ? this.summary(this.found) : "All groups are decided.");
    show(byId("copies-all"), this.writable && this.level === "same" && left);
  }

  /** Do something about a group, or say in it why that failed. */
  async attempt(node, task) {
    node.querySelector(".error")?.remove();
    node.setAttribute("aria-busy", "true");
    try {
      await task();
    } catch (error) {
      node.append(el("p", { class: "error", role: "alert" }, error.message));
    }
    node.removeAttribute("aria-busy");
  }

  /** Ask before all suggestions are followed. */
  async ask() {
    const groups = await this.everything();
    const ids = groups.flatMap(({ keep, items }) => items.map(({ id }) => id).filter((id) => id !== keep));
    const box = byId("copies-sure");
    const cancel = () => {
      show(box, false);
      byId("copies-all").focus();
    };
    const no = el("button", { type: "button", onclick: cancel }, "Cancel");
    const words = `${plural(ids.length, "picture")} in ${plural(groups.length, "group")} will leave the album. You can undo that.`;
    const yes = el("button", { type: "button", class: "danger", onclick: () => this.followAll(box, ids) }, `Remove ${count(ids.length)}`);
    box.replaceChildren(el("p", { role: "alert" }, words), yes, no);
    show(box);
    no.focus();
  }

  async everything() {
    const groups = [];
    for (let total = 1; groups.length < total;) {
      const params = new URLSearchParams({ level: "same", offset: groups.length, limit: MOST });
      const page = await ask("duplicates", { params });
      total = page.groups.length ? page.total : 0;
      groups.push(...page.groups);
    }
    return groups;
  }

  async followAll(box, ids) {
    await this.attempt(box, async () => {
      const keys = [];
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        keys.push((await ask("items/remove", order({ ids: ids.slice(at, at + AT_ONCE) }))).undo);
      }
      await this.app.facts.refresh();
      await this.load(0);
      const back = async () => {
        for (const undo of keys) await ask("items/restore", order({ undo }));
        await this.app.facts.refresh();
        await this.load(0);
      };
      const button = el("button", { type: "button", class: "way-back", onclick: () => this.attempt(box, back) }, "Undo");
      box.replaceChildren(el("p", { role: "status" }, `${plural(ids.length, "picture")} left the album.`), ...(keys.every(Boolean) ? [button] : []));
      show(box);
      button.focus();
    });
  }
}

const keysIn = (list) => new Set([...list.children].map((node) => node.dataset.key));

const order = (body) => ({
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
});

const failure = ({ text }) => text || "The copies could not be looked for. The server's log says why.";

/** Arrow keys: left and right among the pictures of a group, up and down among groups. */
function walk(event) {
  const group = event.target.closest(".group");
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (!group || !step || event.altKey || event.ctrlKey || event.metaKey) return;
  const across = event.key === "ArrowLeft" || event.key === "ArrowRight";
  const inside = [...group.querySelectorAll("button")];
  const others = [...group.parentElement.children];
  const next = across
    ? inside[inside.indexOf(event.target) + step]
    : foremost(others[others.indexOf(group) + step]);
  if (!next) return;
  event.preventDefault();
  next.focus();
}

/** The button of a group that one most likely wants. */
const foremost = (group) => group?.querySelector(".is-suggested .keep") ?? group?.querySelector(".keep, button");
