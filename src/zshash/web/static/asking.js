/** The search field: what is typed, and pictures that are chosen, dropped or pasted. */

import { ask } from "./api.js";
import { isCode } from "./codes.js";
import { byId, el, show, size } from "./dom.js";
import { nameOf } from "./facts.js";
import { formOf, listen } from "./pictures.js";
import { asking, nothing, parameters } from "./state.js";
import { hint, placeholder } from "./wording.js";
import { parts } from "./words.js";

/** Takes what is asked, and has the page go there. */
export class Asking {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    byId("search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.typed(byId("query").value.trim());
    });
    byId("pick").addEventListener("click", () => byId("file").click());
    byId("file").addEventListener("change", (event) => {
      if (event.target.files.length) this.picture(event.target.files[0]);
      event.target.value = "";
    });
    listen({ words: () => this.dropWords(), take: (files) => this.dropped(files) });
  }

  /** What depends on the collection alone. */
  dress() {
    const { facts } = this.app;
    const { searches } = facts.info;
    show(byId("pick"), searches.picture);
    byId("query").placeholder = placeholder(searches.name);
    byId("hint").textContent = searches.picture ? hint() : "";
    const names = searches.name ? facts.names() : [];
    const option = (name) => el("option", { value: nameOf(name), label: facts.describe(name) });
    byId("names").replaceChildren(...names.map(option));
  }

  typed(text) {
    const { app } = this;
    const { bits, searches } = app.facts.info;
    const after = text.slice(1).trim();
    if (!text) app.go(nothing());
    else if (/^#\s*\d{1,9}$/.test(text)) app.go(asking(app.state, "id", after));
    else if (text[0] === "#" && isCode(after, bits)) app.go(asking(app.state, "code", after.toLowerCase()));
    else if (searches.names) app.go({ ...asking(app.state, "name", parts(text).value), ...parts(text) });
    else if (searches.name) app.go(asking(app.state, "name", text));
    else app.fail("This collection can not be searched by name: type # and the number of an item.");
  }

  dropWords() {
    const { adding, facts } = this.app;
    if (document.querySelector("dialog[open]") && !adding.isOpen) return null;
    if (adding.isOpen) return "Drop pictures to add them";
    return facts.info.searches.picture ? "Drop a picture to search with it" : null;
  }

  dropped(files) {
    const { adding } = this.app;
    if (!files.length) this.app.fail("That is no picture.");
    else if (adding.isOpen) adding.take(files);
    else this.picture(files[0]);
  }

  /** Search with a picture; its code takes its place in the address. */
  async picture(file) {
    const { app } = this;
    const { limits } = app.facts.info;
    if (file.size > limits.bytes) {
      app.fail(`The picture is too large: the server takes files of up to ${size(limits.bytes)}.`);
      return;
    }
    const asked = asking(app.state, "code", "");
    const params = parameters(asked);
    params.delete("code");
    params.set("distance", "bits"); // as the code in the address finds them
    app.busy(true);
    try {
      const answer = await ask("search", { method: "POST", params, body: formOf(file), slot: "search" });
      app.sent.keep(answer.query.code, file);
      app.go({ ...asked, value: answer.query.code }, { answer });
    } catch (error) {
      app.failed(error);
    }
  }
}
