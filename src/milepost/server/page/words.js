// Figures in words.

const PROBABLE = 20;

const WORDS = [
  [70, "very likely"],
  [40, "likely"],
  [PROBABLE, "possible"],
  [0, "related, but probably not an answer"],
];

// What is shown decides, as on the command line, so that words and number agree.
const inPercent = (score) => Math.round(100 * score);

/** Whether a probability is high enough for a passage to be listed and marked. */
export const isLikely = (score) => inPercent(score) >= PROBABLE;

/** A probability in words. */
export const likelihood = (score) => WORDS.find(([from]) => inPercent(score) >= from)[1];

/** "92 %"; never 0 or 100, which no probability of ours means. */
export function percent(score) {
  return `${Math.min(99, Math.max(1, inPercent(score)))}\u202f%`;
}

/** The sentences of a passage worth marking: those at least half as likely as the best, best first. */
export function evidence({ hits }) {
  return hits.filter(({ score }) => score >= 0.5 * hits[0].score);
}

const numbers = new Intl.NumberFormat("en");

/** 12345 → "12,345". */
export const figure = (value) => numbers.format(value);

/** count(1, "passage") → "1 passage", count(2, "passage") → "2 passages". */
export function count(number, noun) {
  return `${figure(number)} ${noun}${number === 1 ? "" : "s"}`;
}

const BRIEF = 80;

/** A heading on one line, the end of a long one left out: some are whole sentences. */
export function brief(heading) {
  const characters = [...heading.trim().replace(/\s+/g, " ")];
  if (characters.length <= BRIEF) return characters.join("");
  const cut = characters.slice(0, BRIEF - 1).join("");
  return `${cut.replace(/(?<=.{40}) \S*$/, "")}…`;
}

/** "2024-03-14" → "14 Mar 2024"; a month or a year alone stays one. */
export function dated(date) {
  const [year, month, day] = date.split("-").map(Number);
  if (!month) return String(year);
  const parts = { year: "numeric", month: "short", ...(day && { day: "numeric" }), timeZone: "UTC" };
  return new Intl.DateTimeFormat("en-GB", parts).format(Date.UTC(year, month - 1, day || 1));
}

/** Bytes for people. */
export function size(bytes) {
  if (bytes < 1000) return count(bytes, "byte");
  if (bytes < 1e6) return `${Math.round(bytes / 1000)} kB`;
  return `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}

// Kinds of marks: how each is said, outermost first, and which others end where it begins.
const PLACES = {
  message: "mail of",
  attachment: "attachment",
  page: "page",
  label: "labelled",
  slide: "slide",
  sheet: "sheet",
  cell: "cell",
  row: "row",
  time: "at",
};
const INSIDE = {
  message: ["attachment", "page", "label", "slide", "sheet", "cell", "row", "time"],
  attachment: ["page", "label", "slide", "sheet", "cell", "row", "time"],
  page: ["label"],
  sheet: ["row"],
};

/** One mark in words: "slide 4"; null for a heading. */
export const placeOfMark = ({ kind, value }) => (kind in PLACES ? `${PLACES[kind]} ${value}` : null);

/** Where an offset is, in words: "sheet Costs, row 12"; null where a file has no such places. */
export function placeAt(marks, offset) {
  const held = {};
  for (const mark of marks) {
    if (mark.offset > offset) break;
    for (const inner of INSIDE[mark.kind] ?? []) delete held[inner];
    if (mark.kind in PLACES) held[mark.kind] = mark;
  }
  const words = Object.keys(PLACES).filter((kind) => kind in held).map((kind) => placeOfMark(held[kind]));
  const hidden = ({ kind, offset: start, value }) =>
    kind === "hidden" && start <= offset && offset < start + Number(value);
  if (marks.some(hidden)) words.push("hidden text");
  return words.join(", ") || null;
}

/** The value of the last page or heading that begins at or before an offset; null without any. */
export const markAt = (marks, kind, offset) =>
  marks.findLast((mark) => mark.kind === kind && mark.offset <= offset)?.value ?? null;
