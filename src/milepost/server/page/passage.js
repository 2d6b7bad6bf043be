// A result as it is listed: its answer first, where that is, how likely, its context, what to copy.

import { citeMenu } from "./actions.js";
import { el } from "./dom.js";
import { reflowed } from "./points.js";
import { go, library, placeOf } from "./state.js";
import { brief, dated, evidence, isLikely, likelihood, percent } from "./words.js";

/**
 * A card; where nothing is probable it has no mark.
 *
 * @param {object} passage as POST /search gives it, trimmed
 * @param {string} rank "Result 1 of 5"
 * @param {boolean} marked whether its sentences are marked
 */
export function passageCard(passage, rank, marked) {
  const best = passage.hits[0];
  const title = titleOf(passage);
  const open = el("a", { href: placeOf(passage.id, best.start, best.end), class: "title", text: title, data: { open: passage.id } });
  const card = el("article", { class: "passage", data: { start: best.start, id: passage.id } },
    el("header", {}, el("h3", { text: rank }), score(passage)),
    passage.table?.rows.length ? table(passage.table, best, marked) : quote(passage, best, marked),
    el("p", { class: "where" }, open, whereabouts(passage)),
    el("footer", {}, context(passage, marked), el("div", { class: "tool" }, citeMenu(() => ({
      id: passage.id,
      document: passage.document,
      reference: passage.reference,
      place: passage.place,
      heading: passage.heading,
      quote: passage.points.slice(best.start, best.end),
      start: best.start,
      end: best.end,
    })))),
  );
  card.addEventListener("click", (event) => {
    // The whole card opens, but its controls work, and text can be selected.
    if (event.target.closest("a, button, details") || !getSelection().isCollapsed) return;
    open.focus({ preventScroll: true });
    go({ open: { id: passage.id, start: best.start, end: best.end } });
  });
  return card;
}

/** The sentence that answers, a list item below the lead-in of its list. */
function quote({ text: whole, points, document: name, lead_in: leadIn }, best, marked) {
  // The whole passage shows what is code better than its sentence does.
  const text = reflowed(whole, name).slice(points.index(best.start), points.index(best.end));
  return el("p", { class: "quote", dir: "auto" }, leadIn ? `${leadIn}\n` : null, marked ? el("mark", { class: "best", text }) : text);
}

/** The rows of a table that answer, under the names of its columns. */
function table({ caption, columns, rows }, best, marked) {
  const chosen = ({ start, end }) => marked && start < best.end && best.start < end;
  return el("div", { class: "table", tabindex: 0, role: "region", "aria-label": caption ?? "Table" },
    el("table", { dir: "auto" },
      caption ? el("caption", { text: caption }) : null,
      columns.some(Boolean) ? el("thead", {}, el("tr", {}, columns.map((text) => el("th", { scope: "col", text })))) : null,
      el("tbody", {}, rows.map((row) =>
        el("tr", {}, row.cells.map((text) => el("td", {}, chosen(row) ? el("mark", { class: "best", text }) : text)))))));
}

/** What a document, or that of a passage, is called: its title, else its file. */
export const titleOf = ({ reference, name, document }) => reference?.title || (name ?? document);

/** The file of a document that is called otherwise, else "". */
export function fileOf(one) {
  const file = one.name ?? one.document;
  return titleOf(one) === file ? "" : file;
}

const isCalibrated = () => library.value.ready?.calibrated !== false;

/** Whether a passage is worth marking; scores of a model that is not calibrated say nothing of it. */
export const isProbable = (passage) => !isCalibrated() || isLikely(passage.score);

/** How likely a passage answers; the light model is often too sure where it shares no word. */
export function inWords({ score, wordless }) {
  return wordless && isLikely(score) ? "low confidence" : likelihood(score);
}

function score(passage) {
  if (!isCalibrated()) return null;
  const chip = el("p", { class: "likely", title: "Probability that this passage holds what you asked for" },
    el("strong", { text: inWords(passage) }), ` ${percent(passage.score)}`);
  chip.style.setProperty("--share", `${100 * passage.score}%`);
  return chip;
}

function whereabouts(passage) {
  const { reference, place, heading } = passage;
  const date = reference?.date && dated(reference.date);
  return [date, place, heading && brief(heading), fileOf(passage)].filter(Boolean).map((part) => ` · ${part}`).join("");
}

/** The whole passage, folded; null where it is no more than its answer. */
function context(passage, marked) {
  const { text, hits, points, document: name } = passage;
  if (points.slice(hits[0].start, hits[0].end) === text.trim()) return null;
  return el("details", { class: "context" },
    el("summary", { text: "In context" }),
    el("p", { dir: "auto" }, marked ? body(passage) : reflowed(text, name)));
}

/** The passage's text; its best sentence is marked in full, others nearly as good lightly. */
function body(passage) {
  const shown = reflowed(passage.text, passage.document);
  const { points } = passage;
  const hits = evidence(passage);
  const best = hits[0];
  const parts = [];
  let at = 0;
  for (const one of [...hits].sort((a, b) => a.start - b.start)) {
    const [from, to] = [points.index(one.start), points.index(one.end)];
    if (from < at) continue; // never twice the same text
    parts.push(shown.slice(at, from), el("mark", { class: one === best ? "best" : "other", text: shown.slice(from, to) }));
    at = to;
  }
  return [...parts, shown.slice(at)];
}
