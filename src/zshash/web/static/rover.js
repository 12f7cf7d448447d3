/** The arrow keys, Home and End among pictures in rows. */

const STEPS = { ArrowLeft: -1, ArrowRight: 1 };

/** Let keys move among the pictures of a list. */
export function walk(rows) {
  rows.list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || !event.target.closest("a.frame")) return;
    const to = target(rows, event.key);
    if (to === null) return;
    event.preventDefault();
    rows.focus(Math.max(0, Math.min(to, rows.items.length - 1)));
  });
  rows.list.addEventListener("focusin", (event) => {
    const node = event.target.closest(".tile");
    const at = node ? rows.find(Number(node.dataset.id)) : -1;
    if (at >= 0 && at !== rows.at) rows.reach(at);
  });
}

function target({ boxes, items, at }, key) {
  if (key in STEPS) return at + STEPS[key];
  if (key === "Home") return 0;
  if (key === "End") return items.length - 1;
  if (key === "ArrowUp") return beside(boxes, at, -1);
  return key === "ArrowDown" ? beside(boxes, at, 1) : null;
}

/** The place in the row above or below that is nearest to the middle of a place. */
function beside(boxes, at, step) {
  const middle = ({ left, width }) => left + width / 2;
  const far = (other) => Math.abs(middle(boxes[other]) - middle(boxes[at]));
  const others = [...boxes.keys()].filter((other) => boxes[other].row === boxes[at].row + step);
  return others.reduce((best, other) => (best === at || far(other) < far(best) ? other : best), at);
}
