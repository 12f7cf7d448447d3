/** What is drawn over the points of the map: pictures, marks, the ring and the cross. */

import { meet } from "./signs.js";

const TOP = 10; // results whose pictures are shown on the map
const OVERLAP = 0.12; // share of a picture that others may cover

/** A rectangle in pixels around a place. */
const around = ([x, y], width, height) => [x - width / 2, y - height / 2, x + width / 2, y + height / 2];

/**
 * Draw pictures where they do not hide each other; the first ones have precedence.
 * @param {CanvasRenderingContext2D} context
 * @param {number[]} which points
 * @param {{place: Function, picture: Function, colour: Function, side: number, ratio: number}} how
 * @returns {number[][]} the rectangles that they cover
 */
export function drawPictures(context, which, { place, picture, colour, side, ratio }) {
  const boxes = [];
  const drawn = [];
  for (const i of which) {
    const slack = -OVERLAP * side;
    const room = around(place(i), side, side);
    if (boxes.some((box) => meet(box, room, slack))) continue;
    const image = picture(i);
    if (!image) continue;
    const shrink = side / Math.max(image.naturalWidth, image.naturalHeight);
    const box = around(place(i), image.naturalWidth * shrink, image.naturalHeight * shrink);
    boxes.push(box);
    drawn.push([i, image, box]);
  }
  for (const [i, image, box] of drawn.reverse()) frame(context, image, box, colour(i), ratio);
  return boxes;
}

function frame(context, image, [left, top, right, bottom], colour, ratio) {
  const edge = 2.5 * ratio;
  context.fillStyle = colour;
  context.beginPath();
  context.roundRect(left - edge, top - edge, right - left + 2 * edge, bottom - top + 2 * edge, 5 * ratio);
  context.fill();
  context.save();
  context.beginPath();
  context.roundRect(left, top, right - left, bottom - top, 3 * ratio);
  context.clip();
  context.drawImage(image, left, top, right - left, bottom - top);
  context.restore();
}

/** Draw results in a ring each, the best ones largest and on top; the points of the very best are returned. */
export function drawMarks(context, marked, { place, colour, ratio, accent, paper }) {
  for (const [i, rank] of [...marked].reverse()) {
    const [x, y] = place(i);
    const radius = ratio * (rank < 10 ? 7 : rank < 30 ? 5.5 : 4);
    disc(context, x, y, radius + 3.5 * ratio, paper);
    disc(context, x, y, radius + 2.5 * ratio, accent);
    disc(context, x, y, radius + 0.75 * ratio, paper);
    disc(context, x, y, radius, colour(i));
  }
  return marked.slice(0, TOP).map(([i]) => i);
}

function disc(context, x, y, radius, colour) {
  context.fillStyle = colour;
  context.beginPath();
  context.arc(x, y, radius, 0, 2 * Math.PI);
  context.fill();
}

/** A ring around a point. */
export function drawRing(context, [x, y], radius, ink, ratio) {
  context.lineWidth = 2 * ratio;
  context.strokeStyle = ink;
  context.beginPath();
  context.arc(x, y, radius + 4 * ratio, 0, 2 * Math.PI);
  context.stroke();
}

/** A cross in the middle, for those who move by keys. */
export function drawCross(context, { width, height }, ink, ratio) {
  context.lineWidth = ratio;
  context.strokeStyle = ink;
  context.beginPath();
  for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
    context.moveTo(width / 2 + 6 * ratio * dx, height / 2 + 6 * ratio * dy);
    context.lineTo(width / 2 + 14 * ratio * dx, height / 2 + 14 * ratio * dy);
  }
  context.stroke();
}
