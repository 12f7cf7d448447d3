/** Saying that something was done, with a button that undoes it. */

import { byId, raise, show } from "./dom.js";

const SECONDS = 12;
let timer = 0;

/**
 * Offer to undo for a while; what is on offer is seen above dialogs, too.
 * @param {string} words what was done
 * @param {string|null} verb what the button says; null: there is no way back
 * @param {() => Promise} run
 */
export function offer(words, verb, run) {
  const [box, button] = [byId("undo"), byId("undo-run")];
  raise(box);
  byId("undo-words").textContent = words;
  button.textContent = verb ?? "";
  show(button, verb !== null);
  show(box);
  button.onclick = async () => {
    withdraw();
    await run();
  };
  box.onpointerenter = box.onfocusin = () => clearTimeout(timer);
  box.onpointerleave = box.onfocusout = wait;
  wait();
}

/** Offer nothing any more. */
export function withdraw() {
  clearTimeout(timer);
  show(byId("undo"), false);
}

function wait() {
  clearTimeout(timer);
  timer = setTimeout(withdraw, 1000 * SECONDS);
}

/** An offer outlives the dialog in which it was made. */
document.addEventListener("close", ({ target }) => target.contains(byId("undo")) && document.body.append(byId("undo")), true);
