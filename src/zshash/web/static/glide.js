/** Points that move from one map to the next. */

const MILLISECONDS = 450;

/**
 * Show the way from a map to another one, frame by frame; items that are new stand in their places at once.
 * @param {Points} before
 * @param {Points} points
 * @param {(moving: Points|null) => boolean} draw takes the points on their way, or null when they have arrived; false
 *   ends it
 */
export function glide(before, points, draw) {
  const old = new Map(Array.from(before.id, (id, i) => [id, i]));
  const from = (axis) => Float64Array.from(points.id, (id, i) => (old.has(id) ? before[axis][old.get(id)] : points[axis][i]));
  const [x, y] = [from("x"), from("y")];
  const start = performance.now();
  const step = (now) => {
    const t = Math.min(1, Math.max(0, (now - start) / MILLISECONDS));
    const eased = t * t * (3 - 2 * t);
    const between = (first, last) => Float64Array.from(last, (value, i) => first[i] + (value - first[i]) * eased);
    const moving = t < 1 ? { ...points, x: between(x, points.x), y: between(y, points.y) } : null;
    if (draw(moving) && moving) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}
