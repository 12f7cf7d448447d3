/** Colours for categories: quiet ones for seen, bright ones with an outline for unseen. */

const GOLDEN = 137.508;

/**
 * @typedef {Object} Palette
 * @property {Uint32Array} fill a pixel's value for each category, the last one for no label
 * @property {Uint8Array} outlined
 * @property {string[]} css
 * @property {number} outline of unseen ones
 * @property {number} paper around the others
 * @property {number} faint what is not highlighted
 */

/**
 * @param {{seen: boolean}[]} categories
 * @param {boolean} dark
 * @param {boolean} marks whether seen and unseen are told apart
 * @returns {Palette}
 */
export function palette(categories, dark, marks) {
  const n = categories.length;
  const fill = new Uint32Array(n + 1);
  const outlined = new Uint8Array(n + 1);
  const css = [];
  let unseen = 0;
  categories.forEach(({ seen }, i) => {
    const bright = marks && !seen;
    const shade = Math.floor(i / 12) % 2 ? 0.08 : 0;
    const light = bright ? 0.7 : (dark ? 0.66 : 0.7) - shade;
    const rgb = oklch(light, bright ? 0.21 : 0.085, bright ? 42 + GOLDEN * 2 * unseen++ : 210 + i * GOLDEN);
    fill[i] = pixel(rgb);
    outlined[i] = bright ? 1 : 0;
    css.push(`rgb(${rgb.join(" ")})`);
  });
  const grey = dark ? [110, 116, 122] : [165, 165, 160];
  fill[n] = pixel(grey);
  css.push(`rgb(${grey.join(" ")})`);
  const outline = pixel(dark ? [255, 255, 255] : [20, 22, 24]);
  const paper = pixel(dark ? [29, 33, 37] : [255, 255, 255]);
  const faint = pixel(dark ? [52, 57, 62] : [222, 220, 214]);
  return { fill, outlined, css, outline, paper, faint };
}

/** A colour as the four bytes of an opaque pixel. */
function pixel([red, green, blue]) {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** From lightness, chroma and hue (OKLCH) to red, green and blue. */
function oklch(lightness, chroma, degrees) {
  const hue = (degrees * Math.PI) / 180;
  const a = chroma * Math.cos(hue);
  const b = chroma * Math.sin(hue);
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ].map(gamma);
}

function gamma(value) {
  const clamped = Math.min(1, Math.max(0, value));
  return Math.round(255 * (clamped <= 0.0031308 ? 12.92 * clamped : 1.055 * clamped ** (1 / 2.4) - 0.055));
}
