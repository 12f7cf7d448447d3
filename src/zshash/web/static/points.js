/** The points of the map as the server sends them, and a grid that finds them quickly. */

export const SIZE = 65536;
const CELLS = 256;
const SHIFT = 8;
const NONE = 65535;

/**
 * @typedef {Object} Points
 * @property {number} n
 * @property {Float64Array} id
 * @property {Uint16Array} x
 * @property {Uint16Array} y
 * @property {Uint16Array} category the number of categories stands for none
 * @property {Object} about what the server says about this very map: generation, digest, categories, regions
 */

/** @returns {Points} */
export function parse(buffer) {
  const [n, told] = new Uint32Array(buffer, 0, 2);
  const at = 8 + 8 * n;
  const about = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, at + 6 * n, told)));
  const categories = about.categories.length;
  const category = new Uint16Array(buffer.slice(at + 4 * n, at + 6 * n));
  for (let i = 0; i < n; i++) if (category[i] === NONE || category[i] >= categories) category[i] = categories;
  const id = new Float64Array(buffer, 8, n);
  return { n, id, x: new Uint16Array(buffer, at, n), y: new Uint16Array(buffer, at + 2 * n, n), category, about };
}

/** Points by cell: those of one cell lie together in `members`, from `starts[cell]` on. */
export class PointGrid {
  /** @param {Points} points */
  constructor(points) {
    const { n, x, y } = points;
    this.points = points;
    this.starts = new Uint32Array(CELLS * CELLS + 1);
    for (let i = 0; i < n; i++) this.starts[cellOf(x[i], y[i]) + 1] += 1;
    for (let cell = 0; cell < CELLS * CELLS; cell++) this.starts[cell + 1] += this.starts[cell];
    this.members = new Uint32Array(n);
    const next = this.starts.slice();
    for (let i = 0; i < n; i++) this.members[next[cellOf(x[i], y[i])]++] = i;
  }

  /** The point nearest to a place within a radius among those that are accepted, or −1. */
  nearest(x, y, radius, accept) {
    let best = -1;
    let least = radius * radius;
    this.visit(x - radius, y - radius, x + radius, y + radius, (i) => {
      const d = (this.points.x[i] - x) ** 2 + (this.points.y[i] - y) ** 2;
      if (d <= least && accept(i)) {
        least = d;
        best = i;
      }
      return true;
    });
    return best;
  }

  /** The point nearest to a place, however far, or −1 where no point is accepted. */
  closest(x, y, accept = () => true) {
    for (let radius = SIZE / CELLS; radius < 2 * SIZE; radius *= 2) {
      const found = this.nearest(x, y, radius, accept);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** Up to so many points around a point, the nearest first, itself at the head. */
  around(i, most, accept) {
    const { x, y } = this.points;
    const far = (j) => (x[j] - x[i]) ** 2 + (y[j] - y[i]) ** 2;
    for (let radius = SIZE / CELLS; ; radius *= 2) {
      const all = this.inside(x[i] - radius, y[i] - radius, x[i] + radius, y[i] + radius, Infinity, accept);
      if (all.length > most || radius > SIZE) return all.sort((a, b) => far(a) - far(b)).slice(0, most);
    }
  }

  /** The accepted points in a rectangle, or null where there are more than `most`. */
  inside(left, top, right, bottom, most, accept) {
    const found = [];
    const { x, y } = this.points;
    const complete = this.visit(left, top, right, bottom, (i) => {
      if (x[i] >= left && x[i] <= right && y[i] >= top && y[i] <= bottom && accept(i)) found.push(i);
      return found.length <= most;
    });
    return complete ? found : null;
  }

  visit(left, top, right, bottom, look) {
    const [c0, c1, r0, r1] = [left, right, top, bottom].map(cellAlong);
    for (let row = r0; row <= r1; row++) {
      const first = this.starts[row * CELLS + c0];
      const end = this.starts[row * CELLS + c1 + 1];
      for (let at = first; at < end; at++) if (!look(this.members[at])) return false;
    }
    return true;
  }
}

const cellOf = (x, y) => (y >> SHIFT) * CELLS + (x >> SHIFT);
const cellAlong = (value) => Math.min(SIZE - 1, Math.max(0, Math.floor(value))) >> SHIFT;
