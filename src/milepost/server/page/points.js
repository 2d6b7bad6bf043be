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
const BROKEN_KINDS = new Set(["", "pdf", "txt", "text", "md", "markdown", "rst", "tex", "eml", "mbox"]);
const FENCE = /^\s*(?:```|~~~)\s*([^`]*)$/;

/**
 * The text with a space where a line was only broken to fit a page; it stays as long as it is, so
 * that every offset holds. In other kinds of file a line is a paragraph, a row or a line of code.
 *
 * @param {string} text
 * @param {string} name of the document
 */
export function reflowed(text, name) {
  if (!BROKEN_KINDS.has(/\.([^./]+)$/.exec(name)?.[1].toLowerCase() ?? "")) return text;
  const lines = text.split("\n");
  const code = linesOfCode(lines);
  const isProse = (number) => !code[number] && !lines[number].includes(" | ");
  let result = lines[0];
  for (let number = 1; number < lines.length; number += 1) {
    const broken = lines[number - 1].trim().length >= BROKEN && /^\p{L}/u.test(lines[number]);
    result += (broken && isProse(number - 1) && isProse(number) ? " " : "\n") + lines[number];
  }
  return result;
}

/** Whether each line is code between fences; the first fence that names a language opens. */
function linesOfCode(lines) {
  const fences = lines.map((line) => FENCE.exec(line));
  let inside = fences.filter(Boolean).findIndex(([, language]) => language) % 2 === 1;
  return fences.map((fence) => {
    if (fence) inside = !inside;
    return inside || fence !== null;
  });
}
