/**
 * Colours and shapes for categories. The colours keep a contrast of 3 to 1 to the paper, and can be told apart by
 * people who see red, green or blue weakly; shapes help where colours come near to each other.
 */

const LIGHT = [
  "#2896f5", "#6d3706", "#046a2f", "#cd5394", "#6e3ead", "#068fa7",
  "#ef6661", "#90790f", "#6463d4", "#769c03", "#c568cb", "#01544d",
];
const DARK = [
  "#badbfe", "#feb98b", "#0a7e3a", "#cd5394", "#9163d5", "#18b1cd",
  "#fe8b83", "#ba9c13", "#9ba0fe", "#6c8e03", "#aa50b1", "#1dcbbc",
];
export const SHAPES = ["circle", "square", "diamond", "triangle"];
const SLOTS = LIGHT.length * SHAPES.length;
const slots = new Map(); // of categories, for as long as the page is open: a category keeps its colour

/** The colours of the map, brightest first, for a scheme. */
export const colours = (dark) => (dark ? DARK : LIGHT);

/**
 * @typedef {Object} Palette
 * @property {Uint32Array} fill a pixel's value for each category, the last one for no category
 * @property {Uint8Array} shape an index of `SHAPES` for each
 * @property {Uint8Array} outlined
 * @property {string[]} css
 * @property {number} outline of unseen ones
 * @property {number} paper around the others
 * @property {number} faint what is not highlighted
 * @property {number} accent
 */

/**
 * @param {{label: string, seen: boolean}[]} categories the largest first
 * @param {boolean} dark
 * @param {boolean} marks whether unseen categories have an outline
 * @returns {Palette}
 */
export function palette(categories, dark, marks) {
  const n = categories.length;
  const grey = dark ? "#7f868d" : "#8f8e88";
  const places = [...take(categories), SLOTS];
  const css = places.map((slot) => (slot < SLOTS ? colours(dark)[slot % LIGHT.length] : grey));
  return {
    css,
    fill: Uint32Array.from(css, pixel),
    shape: Uint8Array.from(places, (slot) => (slot < SLOTS ? (slot + Math.floor(slot / LIGHT.length)) % SHAPES.length : 0)),
    outlined: Uint8Array.from({ length: n + 1 }, (_, i) => Number(marks && i < n && !categories[i].seen)),
    outline: pixel(dark ? "#ffffff" : "#141618"),
    paper: pixel(dark ? "#1d2125" : "#ffffff"),
    faint: pixel(dark ? "#363b41" : "#dedcd6"),
    accent: pixel(dark ? "#ff8652" : "#bf3f0a"),
  };
}

/** The slots of categories: those that they had before, else free ones, else none. */
function take(categories) {
  const names = new Set(categories.slice(0, SLOTS).map(({ label }) => label));
  for (const name of slots.keys()) if (!names.has(name)) slots.delete(name);
  const used = new Set(slots.values());
  const free = Array.from({ length: SLOTS }, (_, i) => i).filter((slot) => !used.has(slot));
  for (const name of names) if (!slots.has(name)) slots.set(name, free.shift());
  return categories.map(({ label }) => slots.get(label) ?? SLOTS);
}

/** A colour as the four bytes of an opaque pixel. */
function pixel(hex) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}
