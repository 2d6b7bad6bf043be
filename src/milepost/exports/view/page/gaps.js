// What may differ between two letters, or at the ends of a quotation, and what may not (gaps.py).

import { isDash, isDecimal, isDigit, isLetter, isLetterOrNumber, isSpace } from "./characters.js";

const UNSPACED = /^[\u0e00-\u0eff\u1000-\u10ff\u1100-\u11ff\u1780-\u17d3\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\uff66-\uff9f\u{20000}-\u{3ffff}]/u;
const HYPHENS = "-\u2010\u2011";
const THOUSANDS = "\u00a0\u2009\u202f\u2007"; // spaces that group digits
const POINTS = ".,:/'"; // between digits they are part of a number, a date or a time
const POWERS = "^\u207a\u207b";

const isWord = (letter) => isLetterOrNumber(letter) || continues(letter);

const isUnspaced = (letter) => UNSPACED.test(letter);

/** Whether a letter is a part of the one before: a combining mark, a vowel of Hangul. */
const continues = (letter) => /^[\p{M}\u1160-\u11ff]$/u.test(letter);

const isOneOf = (letter, signs) => letter !== "" && signs.includes(letter);

/** A gap's dashes, and the white space in front of and behind them. */
function parsed(gap) {
  const shown = [...gap].filter((each) => isSpace(each) || isDash(each));
  const first = shown.findIndex((each) => !isSpace(each));
  if (first < 0) return { dashes: "", before: shown.join(""), after: "", count: 0 };
  const last = shown.findLastIndex((each) => !isSpace(each));
  const dashes = shown.slice(first, last + 1).filter((each) => !isSpace(each));
  return {
    dashes: dashes.join(""), before: shown.slice(0, first).join(""), after: shown.slice(last + 1).join(""), count: dashes.length,
  };
}

/** Whether a gap is what the end of a line leaves: one hyphen, and then white space. */
const isBreak = ({ count, before, after }) => count === 1 && !before && after !== "";

/** Whether the gaps behind a letter of one text and one of another, both equal, count as the same. */
export function isSameGap(one, i, other, j) {
  const [a, b] = [one.gap(i), other.gap(j)];
  if (a === b) return true;
  const [left, right] = [one.letter(i), one.letter(i + 1)];
  const [here, there] = [parsed(a), parsed(b)];
  if (here.dashes === there.dashes && here.before === there.before && here.after === there.after) return true;
  if (Boolean(here.count) !== Boolean(there.count)) {
    const [dashed, bare] = here.count ? [here, there] : [there, here];
    return isBreak(dashed) && !bare.before && isLetter(left) && isLetter(right);
  }
  if (here.count) return areSameDashes(here, there, left, right);
  return !(Boolean(here.before) !== Boolean(there.before) && joins(one, i));
}

function areSameDashes(here, there, left, right) {
  const [broken, whole] = isBreak(here) ? [here, there] : [there, here];
  if (isBreak(broken) && !whole.before && !whole.after && isWord(left)) {
    return broken.after.includes("\n") || isLetter(right); // at the end of a line: "self-\ncontained", "10-\n15"
  }
  const [one, other] = [here, there].map((gap) => [gap.before !== "", gap.after !== ""]);
  if (one[0] === other[0] && one[1] === other[1]) return true;
  // The dash may be a minus sign, which white space would part from its number.
  if (isDigit(right) || isOneOf(right, POINTS)) return one[1] === other[1] && !isWord(left);
  // "word—word" is "word – word"; but "man-eating" is not "man - eating".
  const close = [[here, one], [there, other]].filter(([, room]) => !room[0] && !room[1]);
  return !close.some(([gap]) => gap.count === 1 && HYPHENS.includes(gap.dashes));
}

/** Whether a letter and the next mean something else with a space between them. */
function joins(text, i) {
  const [left, right] = [text.letter(i), text.letter(i + 1)];
  if (isWord(left) && isWord(right)) {
    if (isDigit(left) && isDigit(right)) return true;
    return !(isUnspaced(left) && isUnspaced(right));
  }
  if (isOneOf(left, POINTS) && isDigit(right)) return isDigit(text.letter(i - 1));
  if (isDigit(left) && isOneOf(right, POINTS)) return isDigit(text.letter(i + 2));
  return false;
}

/** Whether a number begins at a letter, with a minus sign in front. */
const isNegative = (text, at) => isNumber(text.letter(at)) && isSigned(text.before(at)) && !isBetween(text, at);

/** Whether a quotation that matches from a letter on begins where a word of the text does. */
export function startsWord(given, text, at) {
  const first = given.letter(0);
  const gap = text.before(at);
  const left = text.letter(at - 1);
  if (at && text.places[at - 1] === text.places[at]) return false; // the second half of a ligature
  if (isSigned(given.before(0))) return isSigned(gap) && !isBetween(text, at);
  if (isNegative(text, at)) return false;
  if (!left) return true;
  if (!gap && isWord(left) && isWord(first) && !isParted(left, first)) return false;
  if (!isNumber(first)) return true;
  if (gap) return !(isDigit(left) && areThousands(gap) && isGroup(given, 0));
  if (isOneOf(first, POINTS)) return !(isDigit(left) && isDigit(given.letter(1)));
  return !(isOneOf(left, POINTS) && isDigit(text.letter(at - 2)) && !text.before(at - 1));
}

/** Whether a quotation whose last letter is this one ends where a word of the text does. */
export function endsWord(text, last) {
  const [final, right] = [text.letter(last), text.letter(last + 1)];
  if (!right) return true;
  if (text.places[last] === text.places[last + 1]) return false;
  const gap = text.after(last);
  if (!gap && continues(right)) return false;
  if (!gap && isWord(final) && isWord(right) && !isParted(final, right)) return false;
  if (!isDigit(final)) return true;
  if (gap) return !(areThousands(gap) && isGroup(text, last + 1));
  if (isOneOf(right, POWERS)) return false;
  return !(isOneOf(right, POINTS) && isDigit(text.letter(last + 2)) && !text.after(last + 1));
}

/** Whether a number, or an amount of money, may begin with a letter. */
const isNumber = (letter) => isDigit(letter) || isOneOf(letter, POINTS) || /^\p{Sc}$/u.test(letter);

/** Whether nothing but one dash is between a letter and a word before it. */
const isBetween = (text, at) => at > 0 && text.places[at] - text.places[at - 1] === 2 && isWord(text.letter(at - 1));

/** Whether a dash stands directly in front of the letter behind a gap. */
const isSigned = (gap) => gap !== "" && isDash([...gap].at(-1));

/** Whether a word may end between two letters that touch. */
const isParted = (left, right) => !continues(right) && (isUnspaced(left) || isUnspaced(right));

const areThousands = (gap) => [...gap].every((each) => THOUSANDS.includes(each));

/** Whether three digits and no fourth stand at a letter. */
const isGroup = (text, at) => [0, 1, 2].every((more) => isDecimal(text.letter(at + more))) && !isDecimal(text.letter(at + 3));
