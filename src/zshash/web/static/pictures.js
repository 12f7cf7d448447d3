/** Pictures that come from outside: chosen, dropped or pasted. */

import { byId, show } from "./dom.js";

/** The files among dropped or pasted things that may be pictures. */
export function picturesIn(transfer) {
  return [...(transfer?.files ?? [])].filter((file) => file.type.startsWith("image/") || file.type === "");
}

/**
 * Take pictures that are dropped or pasted anywhere on the page.
 * @param {{words: () => string|null, take: (files: File[]) => void}} options what to say while
 *   something is over the page, or null where nothing can be taken
 */
export function listen({ words, take }) {
  let depth = 0;
  const over = (open) => {
    byId("drop-words").textContent = open ? words() : "";
    show(byId("drop"), open);
  };
  const wanted = (event) => event.dataTransfer?.types.includes("Files") && words() !== null;
  addEventListener("dragenter", (event) => {
    if (!wanted(event)) return;
    event.preventDefault();
    depth += 1;
    over(true);
  });
  addEventListener("dragover", (event) => {
    if (wanted(event)) event.preventDefault();
  });
  addEventListener("dragleave", () => {
    depth = Math.max(0, depth - 1);
    if (depth === 0) over(false);
  });
  addEventListener("drop", (event) => {
    depth = 0;
    over(false);
    if (!event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (words() !== null) take(picturesIn(event.dataTransfer));
  });
  addEventListener("paste", (event) => {
    const files = picturesIn(event.clipboardData);
    if (!files.length || words() === null) return;
    event.preventDefault();
    take(files);
  });
}

/** Pictures that were searched with, by their values or codes: the address has only these. */
export class Sent {
  constructor() {
    this.kept = new Map();
  }

  keep(value, file) {
    if (this.kept.get(value)?.file) URL.revokeObjectURL(this.kept.get(value).url);
    this.kept.set(value, { file, url: URL.createObjectURL(file) });
  }

  /** Keep the address of a picture that the server has. */
  see(value, url) {
    if (!this.kept.has(value)) this.kept.set(value, { file: null, url });
  }

  /** The address of a preview, or null. */
  url(value) {
    return this.kept.get(value)?.url ?? null;
  }

  /** A form with the picture, or null if it is not at hand. */
  form(value) {
    const file = this.kept.get(value)?.file;
    return file ? formOf(file) : null;
  }
}

/** A form with one picture. */
export function formOf(file) {
  const form = new FormData();
  form.append("picture", file, file.name || "picture");
  return form;
}
