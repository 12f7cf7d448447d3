/** Small pictures for the map, kept for a while. */

import { address } from "./api.js";

const MOST = 800;
const TRIALS = 4;

/**
 * Pictures by id; one that is not there yet is fetched, and `arrived` is told. The first few are
 * a trial: as long as none of them has come, no more are asked for.
 */
export class Thumbs {
  constructor(arrived) {
    this.arrived = arrived;
    this.kept = new Map();
    this.came = false;
  }

  /** Address of the picture of an item, or null where none is to be expected. */
  address(id) {
    return this.came || this.kept.size < TRIALS ? address(`items/${id}/thumbnail`) : null;
  }

  /** The picture of an item, or null while it is not there. */
  get(id) {
    const known = this.kept.get(id);
    if (!known) return this.fetch(id);
    this.kept.delete(id);
    this.kept.set(id, known);
    return known.complete && known.naturalWidth ? known : null;
  }

  fetch(id) {
    const source = this.address(id);
    if (source === null) return null;
    const picture = new Image();
    picture.addEventListener("load", () => {
      this.came = true;
      this.arrived();
    });
    picture.src = source;
    this.kept.set(id, picture);
    if (this.kept.size > MOST) this.kept.delete(this.kept.keys().next().value);
    return null;
  }
}
