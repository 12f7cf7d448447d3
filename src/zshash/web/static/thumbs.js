/** Small pictures for the map, kept for a while. */

import { address } from "./api.js";

const MOST = 800;

/** Pictures by id; one that is not there yet is fetched, and `arrived` is told. */
export class Thumbs {
  constructor(arrived) {
    this.arrived = arrived;
    this.kept = new Map();
  }

  /** The picture of an item, or null while it is not there. */
  get(id) {
    const known = this.kept.get(id);
    if (known) {
      this.kept.delete(id);
      this.kept.set(id, known);
      return known.complete && known.naturalWidth ? known : null;
    }
    const picture = new Image();
    picture.addEventListener("load", this.arrived);
    picture.src = address(`items/${id}/thumbnail`);
    this.kept.set(id, picture);
    if (this.kept.size > MOST) this.kept.delete(this.kept.keys().next().value);
    return null;
  }
}
