// Offsets of the API count code points; JavaScript's strings count UTF-16 units. An emoji is one of
// the former and two of the latter, so every offset passes through here.

const PAIR = /[\ud800-\udbff][\udc00-\udfff]/;

/** A text that is cut by offsets in code points. */
export class Points {
  /**
   * @param {string} text
   * @param {number} start offset of the text's first character within its document
   */
  constructor(text, start = 0) {
    this.text = text;
    this.start = start;
    this.units = PAIR.test(text) ? unitsOf(text) : null; // null: both counts are the same
    this.end = start + (this.units ? this.units.length - 1 : text.length);
  }

  /** Index into the string of an offset; offsets outside the text give its edges. */
  index(offset) {
    const place = Math.min(Math.max(offset, this.start), this.end) - this.start;
    return this.units ? this.units[place] : place;
  }

  /** The offset of an index into the string. */
  offset(index) {
    if (!this.units) return this.start + Math.min(Math.max(index, 0), this.text.length);
    return this.start + Math.max(1, leading(this.units.length, (at) => this.units[at] <= index)) - 1;
  }

  /** The text between two offsets. */
  slice(start, end) {
    return this.text.slice(this.index(start), this.index(end));
  }

  /** A span without the white space at its edges. */
  trimmed(start, end) {
    const part = this.slice(start, end);
    const before = part.length - part.trimStart().length; // white space is one unit each
    const after = part.length - part.trimEnd().length;
    return before === part.length ? [start, start] : [start + before, end - after];
  }
}

function unitsOf(text) {
  const units = [0];
  let at = 0;
  for (const point of text) units.push((at += point.length));
  return Uint32Array.from(units);
}

/** How many of so many numbers, from 0 on, pass a test; behind one that fails none passes. */
export function leading(count, passes) {
  let [low, high] = [0, count];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (passes(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

const BROKEN = 50; // characters from which a line that ends was broken to fit a page

/**
 * The text with a space where a line was only broken to fit a page; it stays as long as it is, so
 * that every offset holds.
 */
export function reflowed(text) {
  const lines = text.split("\n");
  let result = lines[0];
  for (let number = 1; number < lines.length; number += 1) {
    const broken = lines[number - 1].trim().length >= BROKEN && /^\p{L}/u.test(lines[number]);
    result += (broken ? " " : "\n") + lines[number];
  }
  return result;
}
