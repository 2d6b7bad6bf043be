// What Python says of a character: white space, letters, digits, dashes.

const SPACE = "[\\p{White_Space}\\x1c-\\x1f]";
export const SPACE_BEFORE = new RegExp(`^${SPACE}+`, "u");
export const SPACE_BEHIND = new RegExp(`${SPACE}+$`, "u");
const IS_SPACE = new RegExp(`^${SPACE}$`, "u");
const DIGIT = new RegExp(
  "^[\\p{Nd}\\xb2\\xb3\\xb9\\u1369-\\u1371\\u19da\\u2070\\u2074-\\u2079\\u2080-\\u2089\\u2460-\\u2468\\u2474-\\u247c\\u2488-\\u2490"
  + "\\u24ea\\u24f5-\\u24fd\\u24ff\\u2776-\\u277e\\u2780-\\u2788\\u278a-\\u2792\\u{10a40}-\\u{10a43}\\u{10e60}-\\u{10e68}"
  + "\\u{11052}-\\u{1105a}\\u{1f100}-\\u{1f10a}]$", "u");

export const isSpace = (sign) => IS_SPACE.test(sign);

/** A hyphen, a dash or a minus sign. */
export const isDash = (sign) => /^[\p{Pd}\u02d7\u2043\u2212]$/u.test(sign);

export const isLetter = (sign) => /^\p{L}$/u.test(sign);

/** A digit of any script, small and circled ones as well. */
export const isDigit = (sign) => DIGIT.test(sign);

/** A digit that numbers are written with. */
export const isDecimal = (sign) => /^\p{Nd}$/u.test(sign);

export const isLetterOrNumber = (sign) => /^[\p{L}\p{N}]$/u.test(sign);

/** Whether a text has a letter or a number. */
export const hasWord = (text) => /[\p{L}\p{N}]/u.test(text);

/** A text without the white space at its edges. */
export const stripped = (text) => text.replace(SPACE_BEFORE, "").replace(SPACE_BEHIND, "");

/** A text whose white space is single spaces. */
export const spaced = (text) => stripped(text).replace(new RegExp(`${SPACE}+`, "gu"), " ");

/** A text without some signs at its end. */
export function trimmedEnd(text, signs) {
  let end = text.length;
  while (end > 0 && signs.includes(text[end - 1])) end -= 1;
  return text.slice(0, end);
}
