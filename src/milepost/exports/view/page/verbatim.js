// All places where a text holds a quotation word for word (verbatim.py).

import { isDash, stripped as trimmed } from "./characters.js";
import { fold } from "./folding.js";
import { endsWord, isSameGap, startsWord } from "./gaps.js";
import { Points } from "./points.js";

const OUTER = "\"'\u00ab\u00bb\u2018\u2019\u201a\u201c\u201d\u201e\u2039\u203a\u2026"; // around a quotation, no part of it

/** A quotation, folded, without white space and the quotation marks and ellipses around it. */
export function stripped(quotation) {
  let inner = trimmed(quotation);
  while (inner && (OUTER.includes(inner[0]) || OUTER.includes(inner.at(-1)) || inner.endsWith("..."))) {
    const before = inner;
    inner = less(inner);
    if (inner === before) break;
  }
  const points = new Points(inner);
  const folded = fold(points);
  if (!folded.size) return folded;
  return fold(new Points(points.slice(...span(folded, folded, 0)))); // without dashes around it
}

/** Without the ellipses at both ends and the outermost pair of quotation marks. */
function less(text) {
  const inner = trimmed(text.replace(/^\u2026+|\u2026+$/g, "").replace(/^\.\.\./, "").replace(/\.\.\.$/, ""));
  if (inner.length > 1 && OUTER.includes(inner[0]) && OUTER.includes(inner.at(-1))) return trimmed(inner.slice(1, -1));
  return inner;
}

/** The places of a quotation in a text, in order, none inside of another. */
export function occurrences(given, text) {
  const found = [];
  for (let at = find(text.letters, given.letters, 0); at >= 0; ) {
    const is = isAt(given, text, at);
    if (is) found.push(span(given, text, at));
    at = find(text.letters, given.letters, at + (is ? given.size : 1));
  }
  return found;
}

/** Where letters hold some others from a place on; -1 for nowhere. */
function find(letters, wanted, from) {
  if (!wanted.length) return -1;
  for (let at = letters.indexOf(wanted[0], from); at >= 0; at = letters.indexOf(wanted[0], at + 1)) {
    if (at + wanted.length > letters.length) return -1;
    let same = 1;
    while (same < wanted.length && letters[at + same] === wanted[same]) same += 1;
    if (same === wanted.length) return at;
  }
  return -1;
}

/** Whether a quotation whose letters are at a place is there word for word. */
function isAt(given, text, at) {
  const last = at + given.size - 1;
  if (!startsWord(given, text, at) || !endsWord(text, last)) return false;
  if (text.points.slice(...span(given, text, at)) === given.points.slice(...span(given, given, 0))) return true;
  for (let number = 0; number + 1 < given.size; number += 1) {
    const apart = given.places[number + 1] - given.places[number] > 1
      || text.places[at + number + 1] - text.places[at + number] > 1;
    if (apart && !isSameGap(given, number, text, at + number)) return false;
  }
  return true;
}

/** The place of a quotation in the text: from its sign, if it begins with one, on. */
function span(given, text, at) {
  const lead = [...given.points.slice(0, given.places[0])].at(-1);
  const signed = lead !== undefined && isDash(lead);
  return [text.places[at] - signed, text.places[at + given.size - 1] + 1];
}
