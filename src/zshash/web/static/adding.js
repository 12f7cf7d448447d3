/** The dialog that adds pictures. */

import { ask } from "./api.js";
import { byId, count, el, plural, show } from "./dom.js";

/** Adds pictures and tells what became of them. */
export class Adding {
  /** @param {{facts: Facts, added: Function}} context */
  constructor(context) {
    this.context = context;
    this.files = [];
    byId("add-open").addEventListener("click", () => this.open());
    byId("adding-pick").addEventListener("click", () => byId("adding-files").click());
    byId("adding-files").addEventListener("change", (event) => this.take([...event.target.files]));
    byId("adding-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.send();
    });
  }

  get isOpen() {
    return byId("adding").open;
  }

  open() {
    byId("adding-report").replaceChildren();
    this.choose([]);
    byId("adding").showModal();
  }

  /** More pictures for the same go. */
  take(files) {
    this.choose([...this.files, ...files]);
    byId("adding-files").value = "";
  }

  choose(files) {
    this.files = files;
    const bytes = files.reduce((sum, file) => sum + file.size, 0);
    byId("adding-chosen").textContent = files.length
      ? `${plural(files.length, "picture")}, ${(bytes / 1e6).toFixed(1)} MB`
      : "or drop them here";
    byId("adding-send").disabled = files.length === 0;
  }

  async send() {
    const files = this.files;
    const labels = byId("adding-labels").value.split(",").map((label) => label.trim()).filter(Boolean);
    const report = { added: [], duplicates: [], failures: [] };
    const progress = byId("adding-progress");
    byId("adding-send").disabled = true;
    progress.max = files.length;
    progress.value = 0;
    show(progress);
    try {
      for (const part of parts(files, this.context.facts.info.limits)) {
        const answer = await ask("items", { method: "POST", body: formOf(part, labels) });
        for (const key of Object.keys(report)) report[key].push(...answer[key]);
        progress.value += part.length;
        this.files = this.files.slice(part.length);
      }
      this.choose([]);
      byId("adding-report").replaceChildren(...told(report));
    } catch (error) {
      this.choose(this.files);
      byId("adding-report").replaceChildren(...told(report), el("p", { class: "error", role: "alert" }, error.message));
    }
    show(progress, false);
    if (report.added.length) this.context.added();
  }
}

/** Files in groups that one request can carry. */
export function* parts(files, limits) {
  let part = [];
  let bytes = 0;
  for (const file of files) {
    if (part.length && (part.length >= (limits.files ?? 1) || bytes + file.size > 0.9 * limits.bytes)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(file);
    bytes += file.size;
  }
  if (part.length) yield part;
}

function formOf(files, labels) {
  const form = new FormData();
  for (const file of files) form.append("picture", file, file.name);
  for (const label of labels) form.append("label", label);
  return form;
}

function told({ added, duplicates, failures }) {
  const lines = [];
  if (added.length) lines.push(el("p", { class: "good" }, `${plural(added.length, "picture")} added.`));
  if (duplicates.length) lines.push(el("p", {}, `${count(duplicates.length)} already there.`));
  if (failures.length) {
    const reasons = failures.map(({ file, reason }) => el("li", {}, el("b", {}, file), ` ${reason}`));
    lines.push(el("p", {}, `${count(failures.length)} left out:`), el("ul", { class: "failures" }, ...reasons));
  }
  return lines;
}
