// A text without what a quotation may change unnoticed, and where each character was (folding.py).

import { isDash, isSpace } from "./characters.js";
import { caselessLetter } from "./terms.js";

const SHAPES = new Map([
  ...[..."'`\u00b4\u02b9\u02bb\u02bc\u02bd\u2018\u2019\u201a\u201b\u2032\u2035\u2039\u203a\uff07"].map((sign) => [sign, "'"]),
  // A double quotation mark is two single ones, as in ``TeX''.
  ...[..."\"\u00ab\u00bb\u201c\u201d\u201e\u201f\u2033\u2036\u301d\u301e\u301f\uff02"].map((sign) => [sign, "''"]),
  // Persian is also typed with letters of Arabic, and with a stroke that only makes words wider.
  ["\u064a", "\u06cc"], ["\u0643", "\u06a9"], ["\u0640", ""], ["İ", "i"],
]);

// Superscripts, subscripts, fractions and letters in circles mean something else than their letter.
const KEPT = new RegExp(
  "^[\\xaa\\xb2\\xb3\\xb9\\xba\\xbc-\\xbe\\u02b0-\\u02b8\\u02e0-\\u02e4\\u10fc\\u1d2c-\\u1d2e\\u1d30-\\u1d3a\\u1d3c-\\u1d4d"
  + "\\u1d4f-\\u1d6a\\u1d78\\u1d9b-\\u1dbf\\u2070\\u2071\\u2074-\\u208e\\u2090-\\u209c\\u2120\\u2122\\u2150-\\u215f\\u2189"
  + "\\u2460-\\u2473\\u24b6-\\u24ea\\u2c7c\\u2c7d\\u2d6f\\u3192-\\u319f\\u3244-\\u3247\\u3251-\\u327e\\u3280-\\u32bf"
  + "\\u32d0-\\u32fe\\ua69c\\ua69d\\ua770\\ua7f2-\\ua7f4\\ua7f8\\ua7f9\\uab5c-\\uab5f\\uab69\\u{10781}-\\u{10785}"
  + "\\u{10787}-\\u{107b0}\\u{107b2}-\\u{107ba}\\u{1f12b}-\\u{1f12e}\\u{1f16a}-\\u{1f16c}\\u{1f250}\\u{1f251}]$", "u");
const SQUARED = new Map([..."㍸㍹㎟㎠㎡㎢㎣㎤㎥㎦㎨㎯"].map((sign, number) => [
  sign, ["dm²", "dm³", "mm²", "cm²", "m²", "km²", "mm³", "cm³", "m³", "km³", "m∕s²", "rad∕s²"][number],
]));

/** A text as it is compared. */
export class Folded {
  /**
   * @param {Points} points the text as it was
   * @param {Uint32Array} letters its folded characters
   * @param {Uint32Array} places the offset that each comes from
   */
  constructor(points, letters, places) {
    Object.assign(this, { points, letters, places });
  }

  get size() {
    return this.letters.length;
  }

  /** A letter; nothing beyond the ends. */
  letter(at) {
    return at >= 0 && at < this.size ? String.fromCodePoint(this.letters[at]) : "";
  }

  /** What the text has between a letter and the next. */
  gap(at) {
    return this.points.slice(this.places[at] + 1, this.places[at + 1]);
  }

  /** What the text has in front of a letter, up to the letter before it. */
  before(at) {
    return this.points.slice(at ? this.places[at - 1] + 1 : 0, this.places[at]);
  }

  /** What the text has behind a letter, up to the next one. */
  after(at) {
    return this.points.slice(this.places[at] + 1, at + 1 === this.size ? this.points.end : this.places[at + 1]);
  }
}

const table = new Map(); // code point → code points that it is folded to

/** Fold a text. */
export function fold(points) {
  let letters = new Uint32Array(points.text.length + 16);
  let places = new Uint32Array(letters.length);
  let size = 0;
  let place = 0;
  let marked = false;
  let base = "";
  for (const sign of points.text) {
    const code = sign.codePointAt(0);
    if (code < 0x300 || code > 0x36f) base = sign;
    let found = table.get(code);
    if (!found) table.set(code, (found = [...foldedSign(sign)].map((each) => each.codePointAt(0))));
    if (size + found.length > letters.length) [letters, places] = [letters, places].map((old) => grown(old));
    if (code === 0x307 && /[iIıİ]/.test(base)) found = []; // Turkish: neither the dot nor its lack counts
    for (const letter of found) {
      marked ||= letter >= 0x300;
      letters[size] = letter;
      places[size] = place;
      size += 1;
    }
    place += 1;
  }
  letters = letters.slice(0, size);
  return new Folded(points, marked ? inOrder(letters) : letters, places.slice(0, size));
}

function grown(old) {
  const larger = new Uint32Array(2 * old.length);
  larger.set(old);
  return larger;
}

/** Combining marks in their canonical order; the letters are decomposed already. */
function inOrder(letters) {
  const parts = [];
  for (let at = 0; at < letters.length; at += 8192) parts.push(String.fromCodePoint(...letters.subarray(at, at + 8192)));
  const text = parts.join("");
  const ordered = text.normalize("NFD");
  return ordered === text ? letters : Uint32Array.from(ordered, (sign) => sign.codePointAt(0));
}

/** What one character is folded to. */
function foldedSign(sign) {
  return [...plain(sign)].map(caselessLetter).join("").normalize("NFD");
}

function plain(sign) {
  if (isSpace(sign) || isDash(sign)) return "";
  if (SHAPES.has(sign)) return SHAPES.get(sign);
  if (/^[\p{Cf}\p{Cc}\ufe00-\ufe0f]$/u.test(sign)) return "";
  const forms = KEPT.test(sign) ? sign : SQUARED.get(sign) ?? sign.normalize("NFKD");
  return [...forms].filter((each) => !(isSpace(each) || isDash(each))).map((each) => SHAPES.get(each) ?? each).join("");
}
