/** Zooming and moving a picture with the wheel, fingers and buttons. */

const STEP = 1.5;
const SWIPE = 60; // pixels that a finger moves for another picture
const DOWN = 120; // and downwards to leave
const CLICK = 6; // pixels that a click may move

/** What a picture's stage does; `act` has `swipe(step)`, `leave()`, `settled(scale)` and `beside()`. */
export class Zoom {
  /**
   * @param {HTMLElement} stage
   * @param {HTMLElement} sheet what is moved and scaled, in the middle of the stage
   * @param {{swipe: Function, leave: Function, settled: Function, beside: Function}} act
   */
  constructor(stage, sheet, act) {
    Object.assign(this, { stage, sheet, act, most: 4, fingers: new Map(), moved: 0 });
    stage.addEventListener("wheel", (event) => this.wheeled(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, (event) => this.up(event));
    stage.addEventListener("dblclick", (event) => this.toggle(event));
    stage.addEventListener("click", (event) => this.isBeside(event) && act.beside());
    this.reset();
  }

  /** Show the whole picture. */
  reset() {
    Object.assign(this, { scale: 1, x: 0, y: 0 });
    this.apply();
  }

  /** Zoom in (1) or out (−1) at the middle. */
  step(way) {
    this.by(STEP ** way, 0, 0);
  }

  /** Zoom by a factor at a point, which is given from the middle of the stage. */
  by(factor, x, y) {
    const scale = Math.min(this.most, Math.max(1, this.scale * factor));
    const ratio = scale / this.scale;
    Object.assign(this, { scale, x: x - ratio * (x - this.x), y: y - ratio * (y - this.y) });
    this.apply();
    this.later();
  }

  toggle(event) {
    const [x, y] = this.spot(event);
    if (this.scale > 1) this.reset();
    else this.by(Math.min(this.most, 2.5), x, y);
    this.later();
  }

  wheeled(event) {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 33 : 1;
    this.by(Math.exp(-0.0022 * lines * event.deltaY), ...this.spot(event));
  }

  down(event) {
    if (event.button || event.target.closest("a, button")) return;
    this.stage.setPointerCapture(event.pointerId);
    if (!this.fingers.size) this.moved = 0;
    this.fingers.set(event.pointerId, { at: this.spot(event), from: this.spot(event) });
    if (this.fingers.size > 1) this.moved = Infinity; // no swipe any more
  }

  move(event) {
    const finger = this.fingers.get(event.pointerId);
    if (!finger) return;
    const before = [...this.fingers.values()].map(({ at }) => at);
    const [x, y] = this.spot(event);
    const [dx, dy] = [x - finger.at[0], y - finger.at[1]];
    finger.at = [x, y];
    this.moved += Math.hypot(dx, dy);
    if (this.fingers.size === 2) this.pinch(before, [...this.fingers.values()].map(({ at }) => at));
    else if (this.scale > 1) this.pan(dx, dy);
    else if (event.pointerType !== "mouse") this.drag(finger);
  }

  pinch([a, b], [c, d]) {
    const apart = (one, other) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
    this.by(apart(c, d) / apart(a, b), (c[0] + d[0]) / 2, (c[1] + d[1]) / 2);
  }

  pan(dx, dy) {
    Object.assign(this, { x: this.x + dx, y: this.y + dy });
    this.apply();
  }

  /** The picture follows a finger that swipes. */
  drag({ at, from }) {
    this.sheet.style.translate = `${at[0] - from[0]}px ${Math.max(0, at[1] - from[1])}px`;
  }

  up(event) {
    const finger = this.fingers.get(event.pointerId);
    this.fingers.delete(event.pointerId);
    if (!finger) return;
    this.sheet.style.translate = "";
    const swiped = this.scale === 1 && event.type === "pointerup" && event.pointerType !== "mouse" && this.moved < Infinity;
    const [dx, dy] = [finger.at[0] - finger.from[0], finger.at[1] - finger.from[1]];
    if (swiped && Math.abs(dx) > SWIPE && Math.abs(dx) > Math.abs(dy)) this.act.swipe(dx < 0 ? 1 : -1);
    else if (swiped && dy > DOWN) this.act.leave();
  }

  /** Whether a click of the mouse is beside the picture. */
  isBeside({ clientX, clientY, pointerType }) {
    const { left, right, top, bottom } = this.sheet.getBoundingClientRect();
    const inside = clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
    return !inside && this.moved < CLICK && pointerType === "mouse";
  }

  /** A point as seen from the middle of the stage. */
  spot({ clientX, clientY }) {
    const { left, top, width, height } = this.stage.getBoundingClientRect();
    return [clientX - left - width / 2, clientY - top - height / 2];
  }

  /** Keep the picture in the stage, and move it there. */
  apply() {
    const { stage, sheet, scale } = this;
    const [wide, high] = [sheet.offsetWidth * scale - stage.clientWidth, sheet.offsetHeight * scale - stage.clientHeight];
    this.x = within(this.x, Math.max(0, wide / 2));
    this.y = within(this.y, Math.max(0, high / 2));
    sheet.style.transform = `translate(${this.x}px, ${this.y}px) scale(${scale})`;
    stage.classList.toggle("zoomed", scale > 1);
  }

  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.act.settled(this.scale), 200);
  }
}

const within = (value, most) => Math.min(most, Math.max(-most, value));
