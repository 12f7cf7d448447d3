/** Asking for the token, once for all requests that want it. */

import { openSession } from "./api.js";
import { byId, show } from "./dom.js";

let asked = null;

/** Ask for a token; a promise of whether there is a session now. */
export function askToken() {
  asked ??= dialog().finally(() => {
    asked = null;
  });
  return asked;
}

/** Use a token in the address (`#token=…`) and take it away from there. */
export async function tokenFromAddress() {
  const found = new URLSearchParams(location.hash.slice(1)).get("token");
  if (found === null) return;
  history.replaceState(history.state, "", location.pathname + location.search);
  try {
    await openSession(found);
  } catch (error) {
    tell(error.message);
  }
}

function dialog() {
  const box = byId("token");
  const form = byId("token-form");
  const value = byId("token-value");
  return new Promise((resolve) => {
    const end = (success) => {
      form.onsubmit = null;
      byId("token-cancel").onclick = null;
      box.onclose = null;
      value.value = "";
      tell("");
      if (box.open) box.close();
      resolve(success);
    };
    form.onsubmit = async (event) => {
      event.preventDefault();
      try {
        await openSession(value.value.trim());
        end(true);
      } catch (error) {
        tell(error.message);
        value.select();
      }
    };
    byId("token-cancel").onclick = () => end(false);
    box.onclose = () => end(false);
    if (!box.open) box.showModal();
    value.focus();
  });
}

function tell(words) {
  byId("token-error").textContent = words;
  show(byId("token-error"), words !== "");
}
