/** Codes as pictures: barcodes with differing bits marked, and patterns for items without a picture. */

import { bitsOf, distance } from "./codes.js";
import { svg } from "./dom.js";

const PER_ROW = 64;
const MARK = 3;

/**
 * A barcode: ones are bars, zeros are gaps. Bits that differ from the query's have the accent
 * colour, with a mark below.
 * @param {string} code
 * @param {number} n number of bits
 * @param {{query?: string|null, cell?: number, height?: number, label?: string}} options
 * @returns {SVGElement}
 */
export function barcode(code, n, { query = null, cell = 2, height = 18, label = "" } = {}) {
  const bits = bitsOf(code, n);
  const other = query ? bitsOf(query, n) : null;
  const rows = Math.ceil(n / PER_ROW);
  const columns = Math.ceil(n / rows);
  const foot = other ? MARK + 2 : 0;
  const step = height + foot + (rows > 1 ? 3 : 0);
  const width = columns * cell;
  const total = rows * step - (rows > 1 ? 3 : 0);
  const paths = { track: "", one: "", more: "", less: "", mark: "" };
  for (let row = 0; row < rows; row++) {
    const length = Math.min(columns, n - row * columns);
    paths.track += box(0, row * step, length * cell, height);
  }
  for (let i = 0; i < n; i++) {
    const x = (i % columns) * cell;
    const y = Math.floor(i / columns) * step;
    const differs = other !== null && bits[i] !== other[i];
    const kind = differs ? (bits[i] ? "more" : "less") : bits[i] ? "one" : null;
    if (kind) paths[kind] += box(x, y, cell, height);
    if (differs) paths.mark += box(x, y + height + 2, cell, MARK);
  }
  const drawing = svg("svg", {
    class: "barcode", width, height: total, viewBox: `0 0 ${width} ${total}`, preserveAspectRatio: "none",
    role: label ? "img" : null, "aria-label": label || null, "aria-hidden": label ? null : "true",
  });
  for (const [kind, d] of Object.entries(paths)) if (d) drawing.append(svg("path", { class: kind, d }));
  return drawing;
}

/** What a barcode shows, in words. */
export function inWords(code, n, query = null) {
  if (!query) return `Code of ${n} bits: ${code}`;
  return `Code ${code}: ${distance(bitsOf(code, n), bitsOf(query, n))} of ${n} bits differ`;
}

/** A square pattern of a code. */
export function pattern(code, n) {
  const side = Math.ceil(Math.sqrt(n));
  let d = "";
  bitsOf(code, n).forEach((bit, i) => {
    if (bit) d += box(i % side, Math.floor(i / side), 1, 1);
  });
  return svg(
    "svg",
    { class: "pattern", viewBox: `-2 -2 ${side + 4} ${side + 4}`, "aria-hidden": "true" },
    svg("path", { d }),
  );
}

const box = (x, y, width, height) => `M${x} ${y}h${width}v${height}h-${width}z`;
