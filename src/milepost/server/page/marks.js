// The results that are listed, and what is marked in an open document: the sentence at the place, and
// other evidence around it.

import { getJson } from "./api.js";
import { isProbable } from "./passage.js";
import { Points } from "./points.js";
import { answer, route } from "./state.js";
import { evidence, markAt, placeAt } from "./words.js";

const MOST = 24; // spans marked beside the one at the place
const LONGEST = 4000; // characters of a quotation
const CUT = /\s\S{0,99}$/; // the last word of a text that is cut; some scripts have no spaces

const EXACT = /"[^"]+"|“[^”]+”/;

/** Whether a question has words that must occur as they are: they do, whatever the probability. */
export const isExact = (question) => EXACT.test(question);

/** Whether a passage is probably no answer. */
export const isWeak = (passage) => !isProbable(passage) && !isExact(answer.value.question);

/** The passages that are listed; those that are probably no answer only where somebody wants them. */
export function results() {
  const { data, status, weak, question } = answer.value;
  if (!data || status === "failed" || question !== route.value.question) return [];
  return data.passages.filter((passage) => weak || !isWeak(passage));
}

/** Passages of the answer at hand in a document, in the order of its text. */
export function passagesIn(id) {
  const { data, status, question } = answer.value;
  if (!data || status === "failed" || question !== route.value.question) return [];
  return data.passages.filter((passage) => passage.id === id).sort((a, b) => a.hits[0].start - b.hits[0].start);
}

/**
 * The spans to mark at a place, that of the place first.
 *
 * `best` is evidence that answers, `other` helps, `here` is only where somebody wanted to go. Where
 * nothing is probable, nothing is marked: a wrong mark is worse than none.
 *
 * @returns {{start: number, end: number, kind: string}[]}
 */
export function spansAt({ id, start, end }) {
  const { status, probable } = answer.value;
  const asked = Boolean(route.value.question);
  if (asked && status === "done" && !probable) return [];
  const marked = passagesIn(id).filter(isProbable).flatMap(evidence);
  const overlaps = (one) => end !== null && one.start < end && one.end > start;
  const others = (status === "done" ? marked : [])
    .filter((one) => !overlaps(one))
    .slice(0, MOST)
    .map((one) => ({ start: one.start, end: one.end, kind: "other" }));
  if (end === null) return others;
  const sure = !asked || status !== "done" || marked.some(overlaps); // whoever made the link was
  return [{ start, end, kind: sure ? "best" : "here" }, ...others];
}

/** The words at a place. */
export const textOf = async (place) => (await quoted(place)).quote;

/** The words at a place, and where they stand; of a long one, those up to the end of a word. */
async function quoted({ id, start, end }) {
  const passage = passagesIn(id).find((one) => one.start <= start && end <= one.end);
  if (passage) return { quote: passage.points.slice(start, end), start, end };
  const until = Math.min(end, start + LONGEST);
  const { text } = await getJson(`documents/${id}/text?start=${start}&end=${until}`);
  const points = new Points(text, start);
  const border = until < end ? text.search(CUT) : -1;
  const [from, to] = points.trimmed(start, border === -1 ? until : points.offset(border));
  return { quote: points.slice(from, to), start: from, end: to };
}

/** What is cited of an open document: a selection, else its place, else the sentence at hand. */
export async function cited({ id, details, place, offset, view }) {
  const chosen = view.selected?.();
  let { start, end } = chosen ?? place;
  if (end === null) {
    const until = Math.min(offset + LONGEST, details.characters);
    const { sentences } = await getJson(`documents/${id}/sentences?start=${offset}&end=${until}`);
    [start, end] = sentences[0] ?? [offset, offset];
  }
  return {
    id,
    document: details.name,
    reference: details.reference,
    place: placeAt(details.marks, start),
    heading: markAt(details.marks, "heading", start),
    ...(await quoted({ id, start, end })),
  };
}
