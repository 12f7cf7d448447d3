/** The server does not answer: all requests wait together until it does, and pictures that failed are loaded again. */

import { byId, plural, show } from "./dom.js";

const STEPS = [1, 2, 3, 5, 8, 13, 20]; // seconds between tries
let outage = null;

/** A promise that is kept when the server answers again. */
export function back() {
  outage ??= wait().finally(() => {
    outage = null;
  });
  return outage;
}

/** Whether the server answers at all. */
async function answers() {
  try {
    return (await fetch("healthz", { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

async function wait() {
  for (let attempt = 0; !(await answers()); attempt++) await countdown(STEPS[Math.min(attempt, STEPS.length - 1)]);
  show(byId("gone"), false);
}

/** Wait for some seconds, in sight of the reader, who may cut them short. */
function countdown(seconds) {
  return new Promise((resolve) => {
    let left = seconds;
    const tell = () => { byId("gone-words").textContent = `Trying again in ${plural(left, "second")}.`; };
    const end = () => {
      clearInterval(timer);
      byId("gone-words").textContent = "Trying again …";
      byId("gone-now").onclick = null;
      resolve();
    };
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) tell();
      else end();
    }, 1000);
    byId("gone-now").onclick = end;
    tell();
    show(byId("gone"));
  });
}

/** Load pictures again that failed while the server was gone or busy; all others are passed on to who shows them. */
export function healPictures() {
  document.addEventListener("error", (event) => {
    const picture = event.target;
    if (!event.isTrusted || !(picture instanceof HTMLImageElement) || !picture.src.startsWith(base())) return;
    event.stopImmediatePropagation();
    heal(picture, picture.src);
  }, true);
}

const base = () => new URL("api/", document.baseURI).href;

async function heal(picture, source) {
  const status = await statusOf(source);
  if (status === 0) await back();
  else if (status === 429) await new Promise((resolve) => setTimeout(resolve, 2000));
  else if (status >= 400) return picture.dispatchEvent(new Event("error"));
  if (picture.isConnected && picture.src === source) picture.src = source;
  return null;
}

async function statusOf(source) {
  try {
    return (await fetch(source, { credentials: "same-origin" })).status;
  } catch {
    return 0;
  }
}
