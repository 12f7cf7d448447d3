/** Binary codes: from hexadecimal digits to bits, and how two of them differ. */

/**
 * The bits of a code, the highest of each byte first.
 * @param {string} hex
 * @param {number} n how many
 * @returns {Uint8Array}
 */
export function bitsOf(hex, n) {
  const bits = new Uint8Array(n);
  for (let i = 0; i < n; i++) {
    const digit = parseInt(hex[i >> 2], 16);
    bits[i] = (digit >> (3 - (i & 3))) & 1;
  }
  return bits;
}

/** In how many bits two codes differ. */
export function distance(a, b) {
  let differing = 0;
  for (let i = 0; i < a.length; i++) differing += a[i] ^ b[i];
  return differing;
}

/** Whether a text is a code of so many bits. */
export function isCode(text, n) {
  return text.length === 2 * Math.ceil(n / 8) && /^[0-9a-f]+$/i.test(text);
}

/** Digits in groups of four, to be read aloud and compared by eye. */
export const grouped = (hex) => hex.match(/.{1,4}/g).join(" ");
