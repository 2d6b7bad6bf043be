// The answer box: what a language model writes from the passages, its citations checked.

import { isAborted, postEvents } from "./api.js";
import { el, fill } from "./dom.js";
import { announce } from "./notice.js";
import { Points } from "./points.js";
import { library, placeOf } from "./state.js";
import { count, percent } from "./words.js";

// As in answers/citations.py.
const ONE = String.raw`(?:passages?\s+)?(?:\d{1,2}\s*[-‐‑–]\s*\d{1,2}|\d{1,4})`;
const CITED = new RegExp(String.raw`\s?[[【]\s*(${ONE}(?:\s*[,;]\s*${ONE})*)\s*[\]】](?:\(#[^\s()]*\)|(?!\(\S+\)))`, "gi");
const VERDICTS = {
  verbatim: "word for word",
  near: "nearly word for word",
  supported: "probably supported",
  contradicted: "probably contradicted",
  related: "about this: read it",
  unsupported: "not supported",
  unquoted: "in other words",
  misquoted: "quoted wrongly",
  missing: "no such result",
};

const box = el("section", { class: "written", "aria-label": "Answer" });

let offered = ""; // the search that the box belongs to
let running = null; // what can end the answer that is being written

/** The box for a search, null without a language model; one of another search is emptied first. */
export function answerBox(wanted) {
  if (!library.value.ready?.language_model) return null;
  const key = JSON.stringify(wanted);
  if (key !== offered) {
    closeAnswer();
    offered = key;
    show(offer(wanted));
  }
  return box;
}

/** Give up the answer that is being written. */
export function closeAnswer() {
  running?.abort();
  running = null;
  offered = "";
}

function show(...parts) {
  box.setAttribute("aria-busy", String(running !== null));
  fill(box, ...parts);
}

function offer(wanted) {
  return el("p", { class: "aside" },
    el("button", { type: "button", text: "Write an answer", on: { click: () => write(wanted) } }),
    ` by ${library.value.ready.language_model}, from these results`);
}

async function write(wanted) {
  const mine = (running = new AbortController());
  const stop = el("button", { type: "button", text: "Stop", on: { click: () => mine.abort() } });
  const text = el("p", { class: "text", dir: "auto", text: "…" });
  show(text, el("p", {}, stop));
  stop.focus({ preventScroll: true });
  const said = { text: "", passages: [], citations: [] };
  try {
    for await (const { event, data } of postEvents("ask", wanted, mine.signal)) {
      if (event === "passages") said.passages = data.passages;
      else if (event === "citation") said.citations.push(data);
      else if (event === "thinking" && data.restart) text.textContent = said.text = "";
      else if (event === "text") text.textContent = said.text += data.text;
      else if (event === "error") throw new Error(data.message);
      else if (event === "answer") return finished(mine, wanted, said, data);
    }
    throw new Error("The answer broke off.");
  } catch (error) {
    if (running !== mine) return; // another search came
    running = null;
    const why = isAborted(error) ? "Stopped." : error.message;
    show(said.text ? text : null, el("p", { class: "warning", role: "alert", text: why }), again(wanted));
  }
}

function finished(mine, wanted, said, { text, uncited, cut }) {
  if (running !== mine) return;
  running = null;
  const notes = remarks(said.citations, uncited, cut);
  show(
    el("p", { class: "text", dir: "auto" }, withLinks(text, said)),
    el("p", { class: "aside", text: notes }),
    again(wanted));
  announce(`The answer is written. ${notes}`);
}

function again(wanted) {
  return el("p", {}, el("button", { class: "quiet", type: "button", text: "Write it again", on: { click: () => write(wanted) } }));
}

/** What became of the citations, in a sentence or two. */
function remarks(citations, uncited, cut) {
  const kinds = Object.entries(VERDICTS)
    .map(([verdict, words]) => [citations.filter((one) => one.verdict === verdict).length, words])
    .filter(([number]) => number);
  const parts = [
    citations.length
      ? `${count(citations.length, "citation")}: ${kinds.map(([number, words]) => `${number} ${words}`).join(", ")}.`
      : "It cites no result, so nothing of it was checked.",
  ];
  if (citations.length && uncited.length) parts.push(`${count(uncited.length, "sentence")} without a citation.`);
  if (cut) parts.push("The language model was stopped before the answer was whole.");
  return parts.join(" ");
}

/** The text with each citation as a link to its place. */
function withLinks(text, { passages, citations }) {
  const points = new Points(text);
  const parts = [];
  let at = 0;
  for (const match of text.matchAll(CITED)) {
    const offset = points.offset(match.index + match[0].search(/\d/));
    const numbers = match[1].split(/[,;]/).flatMap(numbersOf);
    const links = numbers.map((number) => {
      const about = citations.find((one) => one.number === number && one.start <= offset && offset < one.end);
      return about ? link(about, passages[number - 1]) : `[${number}]`; // inside of quotation marks
    });
    parts.push(text.slice(at, match.index), " ", ...links);
    at = match.index + match[0].length;
  }
  return [...parts, text.slice(at)];
}

/** The numbers from the lower to the higher end of a range, or the one that it is. */
function numbersOf(part) {
  const ends = part.match(/\d+/g).map(Number);
  const lowest = Math.min(...ends);
  return Array.from({ length: Math.max(...ends) - lowest + 1 }, (_, at) => lowest + at);
}

/** What else is about it, in words, where the result is not. */
function elsewhere(verdict, support) {
  if (verdict !== "unsupported" || !support) return "";
  const sure = support.score === null ? "its words" : percent(support.score);
  return `, but by ${support.number ? `result ${support.number}` : support.document}: ${sure}`;
}

function link({ number, verdict, spans, support }, passage) {
  const words = `${VERDICTS[verdict]}${elsewhere(verdict, support)}`;
  const properties = { class: `cite ${verdict}`, "aria-label": `result ${number}, ${words}`, text: `[${number}]` };
  if (!passage) return el("span", { ...properties, role: "note", title: words });
  const [start, end] = spans[0] ?? [passage.best.start, passage.best.end];
  return el("a", { ...properties, href: placeOf(passage.id, start, end), title: `${passage.document}: ${words}` });
}
