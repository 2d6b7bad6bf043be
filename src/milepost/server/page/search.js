// The question, and the results that answer it.

import { answerBox, closeAnswer } from "./answer.js";
import { getJson, isAborted, postJson } from "./api.js";
import { byId, el, fill, problemBox } from "./dom.js";
import { whereOf } from "./filter.js";
import { isExact, isWeak, results } from "./marks.js";
import { announce } from "./notice.js";
import { inWords, isProbable, passageCard, titleOf } from "./passage.js";
import { Points } from "./points.js";
import { answer, go, library, route } from "./state.js";
import { count, figure, isLikely, percent } from "./words.js";

const FIRST = 5; // results of a first answer; "Show more" doubles them
const MOST = 80;
const WRITTEN_FROM = 10; // passages at most that a language model is given

// As in search/searcher.py; where nothing is probable, the page says so in its own words.
const DOUBT = /^(?:probably nothing here answers this|what is found may not answer this): /;

let running = null; // what can end the search that runs
let asked = null; // what was asked last: question, documents, number of passages
let used = null; // what an answer is written from: question, number of passages, documents

const missing = el("p", { class: "note", hidden: true }); // what is not read yet

/** Let the question's form and the address start searches. */
export function startSearch() {
  byId("search-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const question = byId("question").value.trim();
    if (!question) {
      byId("question").focus();
      return;
    }
    const same = question === route.value.question;
    go({ question, open: same ? route.value.open : null });
    if (same) search(FIRST);
  });
  route.listen((now, before) => {
    // What somebody is typing stays, whatever else changes.
    if (now.question !== before.question) byId("question").value = now.question;
    searchIfNew(now);
  });
  answer.listen(show);
  library.listen((now, before) => {
    missing.hidden = !now.missing;
    missing.textContent = now.missing;
    if (now.documents === before.documents && now.status === before.status) return;
    if (before.status === "ready" && answer.value.status === "done") search(asked.most, { again: true });
    else show(answer.value);
  });
  // What was typed while the page started stays, and is asked if it was sent.
  const typed = byId("question").value.trim();
  if (!typed) byId("question").value = route.value.question;
  else if ("asked" in byId("search-form").dataset) go({ question: typed, open: null });
  searchIfNew(route.value);
  show(answer.value);
}

const keyOf = ({ question, chosen, filter }) => JSON.stringify([question, chosen, whereOf(filter)]);

function searchIfNew(now) {
  const { question } = now;
  document.title = question ? `${question} – Milepost` : "Milepost";
  if (!question) {
    running?.abort();
    closeAnswer();
    asked = null;
    if (answer.value.status !== "none") answer.set({ status: "none", question: "", data: null, probable: false });
  } else if (asked?.key !== keyOf(now)) {
    search(FIRST);
  }
}

/**
 * Ask the server; an earlier question that is not answered yet is given up.
 *
 * @param {number} most results
 * @param {{again?: boolean}} options again: documents have changed; what is shown stays until then
 */
export async function search(most, { again = false } = {}) {
  const { question, chosen, filter } = route.value;
  if (!question) return;
  running?.abort();
  const mine = (running = new AbortController());
  const fresh = asked?.question !== question;
  asked = { question, key: keyOf(route.value), most };
  // With the last answer, and its question; one change, or that answer would be shown as if to this one.
  if (!again) answer.set({ status: "loading", error: null, ...(fresh && { weak: false }) });
  try {
    const documents = await existing(chosen, mine.signal);
    const where = whereOf(filter);
    const scope = { ...(documents.length && { documents }), ...(where && { where }) };
    const data = trimmed(await postJson("search", { question, k: most, heat: true, ...scope }, mine.signal));
    if (again && JSON.stringify(data) === JSON.stringify(answer.value.data)) return;
    const calibrated = library.value.ready?.calibrated ?? true;
    const sure = !calibrated || isExact(question) || isLikely(data.best_score);
    const probable = data.passages.length > 0 && sure;
    used = { question, k: Math.min(most, WRITTEN_FROM), ...scope };
    answer.set({ status: "done", question, data, probable });
    announce(summary(data, probable));
    window.dispatchEvent(new Event("indexing")); // of files that had changed: they may be read still
  } catch (error) {
    if (isAborted(error)) return;
    answer.set({ status: "failed", question, data: null, probable: false, error });
  }
}

/** The documents chosen that are still there: one that was removed must not fail the search. */
async function existing(chosen, signal) {
  if (!chosen.length) return chosen;
  const known = new Set(library.value.documents.map((document) => document.id));
  const checks = chosen.map(async (id) => {
    if (known.has(id)) return id;
    return getJson(`documents/${encodeURIComponent(id)}`, signal).then(
      () => id,
      (error) => {
        if (error.status === 404) return null;
        throw error;
      },
    );
  });
  return (await Promise.all(checks)).filter(Boolean);
}

const isLight = () => library.value.ready?.model.startsWith("landmark-light") ?? false;

/** An answer whose sentences begin and end with a sign, not with white space. */
function trimmed(data) {
  const occurs = Object.values(data.terms);
  const wordless = isLight() && occurs.length > 0 && !occurs.some(Boolean);
  const passages = data.passages.map((passage) => {
    const points = new Points(passage.text, passage.start);
    const hits = passage.hits.map((hit) => {
      const [start, end] = points.trimmed(hit.start, hit.end);
      return { ...hit, start, end };
    });
    return { ...passage, points, wordless, hits: hits.filter(({ start, end }) => start < end) };
  });
  return { ...data, passages: passages.filter((passage) => passage.hits.length) };
}

function summary(data, probable) {
  if (!data.passages.length) return "No result found.";
  if (!probable) return "Nothing in these documents is likely to answer this.";
  const first = data.passages[0];
  return `${count(results().length, "result")}. The first, in ${titleOf(first)}, is ${spoken(first)}.`;
}

function spoken(passage) {
  if (library.value.ready?.calibrated === false) return "the best match";
  return `${inWords(passage)}, ${percent(passage.score)}`;
}

function show(now) {
  const region = byId("results");
  region.setAttribute("aria-busy", String(now.status === "loading"));
  region.classList.toggle("loading", now.status === "loading");
  if (now.status === "loading" && now.data) return; // the last answer stays, dimmed
  const parts = {
    none: invitation,
    loading: () => [el("p", { class: "aside", text: "Searching…" }), skeleton()],
    failed: () => failure(now.error),
    done: () => found(now),
  };
  const focused = region.contains(document.activeElement) && document.activeElement.getAttribute("href");
  const unfolded = new Set([...region.querySelectorAll("details.context[open]")].map(keyOfCard));
  fill(region, parts[now.status]());
  // The cards are new: what had the focus gets it back, what was unfolded stays so.
  for (const details of region.querySelectorAll("details.context")) details.open = unfolded.has(keyOfCard(details));
  if (focused) region.querySelector(`a[href="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
}

function keyOfCard(node) {
  const { id, start } = node.closest(".passage").dataset;
  return `${id}-${start}`;
}

function invitation() {
  const { status, documents, ready, error } = library.value;
  if (status === "failed") return failure(error);
  if (status === "loading") return [skeleton()];
  if (documents.length) {
    return [
      el("h2", { class: "large", text: "What do you want to know?" }),
      el("p", { text: `Ask in your own words. You will see the sentences that answer, each in its place, with the probability that it does. Words in "quotation marks" must occur as they are, and a -word must not.` }),
      el("p", { class: "aside keys" }, el("kbd", { text: "/" }), " goes to the question, the arrow keys go through the results, ", el("kbd", { text: "Enter" }), " opens one, ", el("kbd", { text: "Esc" }), " closes it."),
      missing,
    ];
  }
  return [
    el("h2", { class: "large", text: "No documents yet" }),
    el("p", { text: ready?.read_only ? "This server has no documents, and it lets nobody add any." : "Drop files anywhere on this page, or choose some. They stay on the computer that runs Milepost." }),
    ready?.read_only ? null : el("p", {}, el("button", { class: "primary", type: "button", text: "Choose files", on: { click: () => byId("files").click() } })),
  ];
}

function failure(error) {
  const again = () => (route.value.question ? search(FIRST) : location.reload());
  return [problemBox(error, again)];
}

function skeleton() {
  const lines = () => el("div", { class: "skeleton" }, el("span"), el("span"), el("span"));
  return el("div", { "aria-hidden": "true" }, lines(), lines(), lines());
}

function found({ data, probable }) {
  const said = data.notes.filter((note) => probable || !DOUBT.test(note));
  const notes = [missing, ...said.map((note) => el("p", { class: "aside", text: sentence(note) }))];
  if (!data.passages.length) return [el("h2", { class: "large", text: "Nothing found" }), ...notes];
  const listed = results();
  const items = listed.map((passage, at) =>
    el("li", {}, passageCard(passage, `Result ${figure(at + 1)} of ${figure(listed.length)}`, probable && isProbable(passage))));
  const head = probable
    ? [el("h2", { class: "visually-hidden", text: count(listed.length, "result") }), answerBox(used)]
    : [
        el("h2", { class: "large", text: "Nothing here is likely to answer this" }),
        el("p", { text: `The best passage has a probability of ${percent(data.best_score)}. Other words may find more.` }),
      ];
  const list = items.length ? el("ol", { id: "passages", class: "passages" }, items) : null;
  return [...head, ...notes, list, el("p", { class: "more" }, weaker(data), more(listed))];
}

/** Shows the results that are probably no answer, or hides them. */
function weaker({ passages }) {
  const number = passages.filter(isWeak).length;
  if (!number) return null;
  const { weak } = answer.value;
  const click = () => {
    answer.set({ weak: !weak });
    byId("results").querySelector("button[aria-expanded]")?.focus({ preventScroll: true }); // it is behind them
  };
  const text = `${weak ? "Hide" : "Show"} ${count(number, "weaker result")}`;
  return el("button", { type: "button", text, "aria-expanded": String(weak), on: { click } });
}

function more(listed) {
  if (listed.length < asked.most || asked.most >= MOST) return null;
  const click = async () => {
    await search(2 * asked.most);
    byId("results").querySelectorAll(".passage .title")[listed.length]?.focus(); // the button is gone or behind it
  };
  return el("button", { type: "button", text: "Show more results", on: { click } });
}

/** A note of the server as a sentence. */
function sentence(note) {
  const first = note.charAt(0).toUpperCase() + note.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
