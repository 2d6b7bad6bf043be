// A piece of a document's text as elements: marks, headings and pages.

import { el } from "./dom.js";
import { reflowed } from "./points.js";
import { placeOfMark } from "./words.js";

const NAMED = new Set(["message", "attachment", "page", "slide", "sheet", "cell"]); // rows are too many
const SEARCHED = 3000; // UTF-16 units at an edge in which a good place to cut is looked for

const BORDERS = ["\n\n", "\n", " "]; // a paragraph, else a line, else a word is kept whole

/** The index near the beginning of a text from which to keep it. */
export function firstCut(text) {
  for (const border of BORDERS) {
    const place = text.indexOf(border);
    if (place !== -1 && place < Math.min(SEARCHED, text.length / 2)) return place + border.length;
  }
  return 0;
}

/** The index near the end of a text up to which to keep it. */
export function lastCut(text) {
  for (const border of BORDERS) {
    const place = text.lastIndexOf(border);
    if (place > Math.max(text.length - SEARCHED, text.length / 2)) return place + border.length;
  }
  return text.length;
}

/**
 * The nodes of a piece; their text is the piece's text, unit for unit.
 *
 * @param {import("./points.js").Points} points
 * @param {{start: number, end: number, kind: string}[]} spans what is marked, ascending
 * @param {object[]} places pages and headings of the document, ascending
 * @param {string} name of the document
 */
export function drawn(points, spans, places, name) {
  const text = reflowed(points.text, name);
  const styled = [...headings(points, places), ...visible(points, spans)];
  const begun = places.filter(({ kind, offset }) => NAMED.has(kind) && points.start <= offset && offset < points.end);
  const borders = new Set([0, text.length]);
  for (const { from, to } of styled) borders.add(from).add(to);
  const starts = new Map(begun.map((mark) => [points.index(mark.offset), placeOfMark(mark)]));
  for (const at of starts.keys()) borders.add(at);
  const nodes = [];
  const sorted = [...borders].sort((a, b) => a - b);
  for (let number = 0; number + 1 < sorted.length; number += 1) {
    const [from, to] = [sorted[number], sorted[number + 1]];
    if (starts.has(from)) nodes.push(el("span", { class: "border", data: { place: starts.get(from) } }));
    const here = styled.filter((one) => one.from <= from && to <= one.to);
    nodes.push(segment(text.slice(from, to), here));
  }
  return nodes;
}

function segment(text, styles) {
  const mark = styles.find(({ kind }) => kind !== "heading");
  const heading = styles.find(({ kind }) => kind === "heading");
  const classes = heading ? `heading level-${heading.level}` : "";
  if (mark) return el(mark.kind === "here" ? "span" : "mark", { class: `${mark.kind} ${classes}`.trim(), text });
  return heading ? el("span", { class: classes, text }) : document.createTextNode(text);
}

function* visible(points, spans) {
  for (const { start, end, kind } of spans) {
    if (start < points.end && end > points.start) yield { from: points.index(start), to: points.index(end), kind };
  }
}

/** A heading is a line: its words may differ from those in the list, in white space above all. */
function* headings(points, places) {
  for (const { kind, offset, level } of places) {
    if (kind !== "heading" || offset < points.start || offset >= points.end) continue;
    const from = points.index(offset);
    const end = points.text.indexOf("\n", from);
    yield { from, to: end === -1 ? points.text.length : end, kind: "heading", level };
  }
}
