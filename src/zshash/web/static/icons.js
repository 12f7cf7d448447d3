/** The signs on buttons. */

import { svg } from "./dom.js";

const SIGNS = {
  check: "M5 12.5l4.5 4.5L19 7.5",
  like: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.2 15.2L20.5 20.5M7 12.2l2.2-2.6 1.7 1.9 1.2-1.2 1.9 1.9",
  close: "M6 6l12 12M18 6L6 18",
  before: "M15 5l-7 7 7 7",
  after: "M9 5l7 7-7 7",
  larger: "M12 5v14M5 12h14",
  smaller: "M5 12h14",
  full: "M4 9V4h5M15 4h5v5M20 15v5h-5M9 20H4v-5",
  load: "M12 4v11M7 10.5l5 5 5-5M5 20h14",
  about: "M12 11v6M12 7.2v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18",
  remove: "M5 7h14M10 7V4.5h4V7M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  label: "M4 4h7.5l8.5 8.5-7.5 7.5L4 11.5zM8 8v.1",
};

/** The drawing of a sign; what a button says beside it is for `aria-label`. */
export function icon(name) {
  return svg("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: SIGNS[name] }));
}
