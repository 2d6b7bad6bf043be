// A passage as it is listed: where it is, how likely, its sentences marked, and what to copy.

import { citeMenu } from "./actions.js";
import { el } from "./dom.js";
import { reflowed } from "./points.js";
import { go, library, placeOf } from "./state.js";
import { PROBABLE, evidence, likelihood, percent } from "./words.js";

/** A card; where nothing is probable it has no mark. */
export function passageCard(passage, probable) {
  const best = passage.sentences[0];
  const place = placeOf(passage.id, best.start, best.end);
  const open = el("a", { href: place, class: "title", text: passage.title, data: { open: passage.id } });
  const card = el("article", { class: "passage", data: { start: best.start, id: passage.id } },
    el("header", {},
      el("h3", {}, open),
      score(passage),
      whereabouts(passage)),
    el("p", { class: "quote", dir: "auto" }, body(passage, probable && isProbable(passage))),
    el("footer", {}, ...citeMenu(() => ({
      id: passage.id,
      title: passage.title,
      reference: passage.reference,
      place: passage.place,
      heading: passage.heading,
      quote: passage.points.slice(best.start, best.end),
      start: best.start,
      end: best.end,
    }))),
  );
  card.addEventListener("click", (event) => {
    // The whole card opens, but its controls work, and text can be selected.
    if (event.target.closest("a, button, summary, details") || !getSelection().isCollapsed) return;
    open.focus({ preventScroll: true });
    go({ open: { id: passage.id, start: best.start, end: best.end } });
  });
  return card;
}

const isCalibrated = () => library.value.ready?.calibrated !== false;

/** Whether a passage is worth marking; scores of a model that is not calibrated say nothing of it. */
export const isProbable = (passage) => !isCalibrated() || passage.score >= PROBABLE;

function score(passage) {
  if (!isCalibrated()) return null;
  const { words, level } = likelihood(passage.score);
  const bar = el("span", { class: "bar", "aria-hidden": "true" }, el("span"));
  bar.firstChild.style.inlineSize = `${100 * passage.score}%`;
  return el("p", { class: `likely level-${level}`, title: "Probability that this passage holds what you asked for" },
    bar, el("strong", { text: words }), ` ${percent(passage.score)}`);
}

function whereabouts({ place, heading }) {
  const parts = [place, heading?.replace(/\s+/g, " ")].filter(Boolean);
  return parts.length ? el("p", { class: "where", text: parts.join(" · ") }) : null;
}

/** The passage's text; its best sentence is marked in full, others nearly as good lightly. */
function body(passage, marks) {
  const shown = reflowed(passage.text);
  if (!marks) return [shown];
  const { points } = passage;
  const sentences = evidence(passage);
  const best = sentences[0];
  const parts = [];
  let at = 0;
  for (const one of [...sentences].sort((a, b) => a.start - b.start)) {
    const [from, to] = [points.index(one.start), points.index(one.end)];
    if (from < at) continue; // never twice the same text
    parts.push(shown.slice(at, from), el("mark", { class: one === best ? "best" : "other", text: shown.slice(from, to) }));
    at = to;
  }
  return [...parts, shown.slice(at)];
}
