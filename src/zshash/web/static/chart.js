/** The newest map that the server has: its points, and what is said about this very map. */

import { ApiError, ask } from "./api.js";
import { parse } from "./points.js";

const TRIES = 6;

/**
 * Ask for the newest map.
 * @param {string} slot
 * @param {Points|null} points those that the page has already
 * @returns {Promise<{state: string, points: Points|null}>} the points are the same object if the map is the same;
 *   a map that is older than that of the page is not taken, as another process of the server may still have it
 */
export async function newest(slot, points = null) {
  for (let attempt = 1; ; attempt++) {
    const { state, generation, digest, total } = await ask("map", { slot });
    if (state !== "ready") return { state, total, points };
    const known = points?.about;
    if (known && (known.digest === digest || known.generation > generation)) return { state, total, points };
    const params = new URLSearchParams({ generation, digest });
    try {
      return { state, total, points: parse(await ask("map/points", { params, slot, form: "bytes" })) };
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404) || attempt >= TRIES) throw error;
    }
  }
}
