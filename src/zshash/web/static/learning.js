/** Learning again from all pictures and labels: when it pays, how far it is, and what came of it. */

import { ask, sentence } from "./api.js";
import { byId, el, plural, show } from "./dom.js";

const POLL = 1000;
const LATER = "zshash-learning-later";

/** A quiet line below the head of the page. */
export class Learning {
  /** @param {App} app */
  constructor(app) {
    Object.assign(this, { app, timer: 0, labelled: labelled(app.facts.info), touched: new Set(), running: false });
    if (app.facts.info.writable && "n_unlearned" in app.facts.info) this.begin();
  }

  /** Go on with what was under way when the page was loaded. */
  async begin() {
    try {
      const found = await ask("refit");
      if (found.state === "running") this.follow(found);
      else this.look();
    } catch {
      this.hide();
    }
  }

  /** Say that it pays, if it does; called when facts were read again. */
  look() {
    const { info } = this.app.facts;
    if (this.running || !info.writable) return;
    const n = info.n_unlearned ?? 0;
    const given = Math.max(this.touched.size, labelled(info) - this.labelled);
    const key = `${n} ${given}`;
    if ((!n && !given) || sessionStorage.getItem(LATER) === key) return void this.hide();
    const parts = [];
    if (n) parts.push(`${plural(n, "picture")} ${n === 1 ? "is" : "are"} new since the album was learned`);
    if (given) parts.push(`${plural(given, "picture")} ${given === 1 ? "has" : "have"} other labels now`);
    this.tell(`${parts.join(", and ")}. Learning again makes searches better.`, [
      el("button", { type: "button", onclick: () => this.start() }, "Learn again"),
      el("button", { type: "button", class: "quiet", onclick: () => this.later(key) }, "Not now"),
    ]);
  }

  /** These items have other labels now, whether or not they had one before. */
  relabelled(items) {
    for (const { id } of items) this.touched.add(id);
  }

  later(key) {
    sessionStorage.setItem(LATER, key);
    this.hide();
  }

  async start() {
    try {
      this.follow(await ask("refit", { method: "POST" }));
    } catch (error) {
      this.failed(error.message);
    }
  }

  /** Show how far it is, and ask again until it is done. */
  follow(found) {
    clearTimeout(this.timer);
    this.running = true;
    if (found.state === "running") {
      const bar = el("progress", { max: 1, value: found.done, "aria-label": "Learned so far" });
      const what = found.part ? `: ${found.part}` : "";
      this.tell(`Learning again${what}. Searches go on meanwhile.`, [bar]);
      this.timer = setTimeout(() => this.poll(), POLL);
    } else if (found.state === "failed") this.failed(sentence(found.text) || "Learning again failed. The server's log says why.");
    else this.done(found);
  }

  async poll() {
    try {
      this.follow(await ask("refit"));
    } catch (error) {
      if (error.status) return this.failed(error.message);
      this.timer = setTimeout(() => this.poll(), 3 * POLL); // the server is gone for a while
    }
    return undefined;
  }

  async done(found) {
    await this.app.reload();
    this.running = false;
    this.labelled = labelled(this.app.facts.info);
    this.touched.clear();
    this.tell(sentence(found.text) || "The album was learned again.", [this.fold()]);
  }

  failed(words) {
    this.running = false;
    this.tell(words, [el("button", { type: "button", onclick: () => this.start() }, "Try again"), this.fold()]);
  }

  fold() {
    return el("button", { type: "button", class: "quiet", onclick: () => this.hide() }, "Close");
  }

  tell(words, parts) {
    const box = byId("learning");
    const text = byId("learning-words");
    if (text.textContent !== words) text.textContent = words;
    const bar = byId("learning-parts").querySelector("progress");
    if (bar && parts[0].tagName === "PROGRESS") bar.value = parts[0].value;
    else byId("learning-parts").replaceChildren(...parts);
    show(box);
  }

  hide() {
    show(byId("learning"), false);
  }
}

/** How many items have a label. */
const labelled = ({ items, unlabelled }) => items - unlabelled;
