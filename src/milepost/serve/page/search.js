// The question, and the passages that answer it.

import { answerBox, closeAnswer } from "./answer.js";
import { getJson, isAborted, postJson } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { announce } from "./notice.js";
import { passageCard } from "./passage.js";
import { Points } from "./points.js";
import { answer, go, library, route } from "./state.js";
import { PROBABLE, count, likelihood, percent } from "./words.js";

const FIRST = 5; // passages of a first answer; "Show more" doubles them
const MOST = 80;
const WRITTEN_FROM = 10; // passages at most that a language model is given
const EXACT = /"[^"]+"|“[^”]+”/; // words that must occur as they are: they do, whatever the probability

let running = null; // what can end the search that runs
let asked = null; // what was asked last: question, documents, number of passages
let used = null; // what an answer is written from: question, number of passages, documents
let guesses = false; // whether weak passages are to be seen all the same

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
    if (now.documents !== before.documents || now.status !== before.status) show(answer.value);
  });
  byId("question").value = route.value.question;
  searchIfNew(route.value);
  show(answer.value);
}

function searchIfNew({ question, chosen }) {
  document.title = question ? `${question} – Milepost` : "Milepost";
  if (!question) {
    running?.abort();
    closeAnswer();
    asked = null;
    if (answer.value.status !== "none") answer.set({ status: "none", question: "", data: null, probable: false });
  } else if (asked?.question !== question || asked.chosen !== chosen.join()) {
    search(FIRST);
  }
}

/** Ask the server; an earlier question that is not answered yet is given up. */
export async function search(most) {
  const { question, chosen } = route.value;
  if (!question) return;
  running?.abort();
  const mine = (running = new AbortController());
  if (asked?.question !== question) guesses = false;
  asked = { question, chosen: chosen.join(), most };
  answer.set({ status: "loading", error: null }); // with the last answer, and its question
  try {
    const documents = await existing(chosen, mine.signal);
    const wanted = { question, k: most, heat: true, ...(documents.length && { documents }) };
    const data = trimmed(await postJson("search", wanted, mine.signal));
    const calibrated = library.value.ready?.calibrated ?? true;
    const sure = !calibrated || EXACT.test(question) || data.best >= PROBABLE;
    const probable = data.passages.length > 0 && sure;
    used = { question, k: Math.min(most, WRITTEN_FROM), ...(documents.length && { documents }) };
    answer.set({ status: "done", question, data, probable, outdated: false });
    announce(summary(data, probable));
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

/** An answer whose sentences begin and end with a sign, not with white space. */
function trimmed(data) {
  const passages = data.passages.map((passage) => {
    const points = new Points(passage.text, passage.start);
    const sentences = passage.sentences.map((sentence) => {
      const [start, end] = points.trimmed(sentence.start, sentence.end);
      return { ...sentence, start, end };
    });
    return { ...passage, points, sentences: sentences.filter(({ start, end }) => start < end) };
  });
  return { ...data, passages: passages.filter((passage) => passage.sentences.length) };
}

function summary(data, probable) {
  if (!data.passages.length) return "No passage found.";
  if (!probable) return "Nothing in these documents is likely to answer this.";
  const first = data.passages[0];
  return `${count(data.passages.length, "passage")}. The best, in ${first.title}, is ${spoken(first)}.`;
}

function spoken(passage) {
  if (library.value.ready?.calibrated === false) return "shown first";
  return `${likelihood(passage.score).words}, ${percent(passage.score)}`;
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
  fill(region, parts[now.status]());
}

function invitation() {
  const { status, documents, ready, error } = library.value;
  if (status === "failed") return failure(error);
  if (status === "loading") return [skeleton()];
  if (documents.length) {
    return [
      el("h2", { class: "large", text: "What do you want to know?" }),
      el("p", { text: `Ask in your own words. You will see the sentences that answer, each in its place, with the probability that it does. Words in "quotation marks" must occur as they are, and a -word must not.` }),
      el("p", { class: "aside" }, el("kbd", { text: "/" }), " goes to the question, the arrow keys go through the passages, ", el("kbd", { text: "Enter" }), " opens one, ", el("kbd", { text: "Esc" }), " closes it."),
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
  return [
    el("div", { class: "problem", role: "alert" },
      el("p", { text: error?.message ?? "Something went wrong." }),
      el("button", { type: "button", text: "Try again", on: { click: again } })),
  ];
}

function skeleton() {
  const lines = () => el("div", { class: "skeleton" }, el("span"), el("span"), el("span"));
  return el("div", { "aria-hidden": "true" }, lines(), lines(), lines());
}

function found({ data, probable, outdated }) {
  const notes = [
    outdated ? el("p", { class: "note" }, "Documents have changed since this search. ", el("button", { class: "link", type: "button", text: "Search again", on: { click: () => search(asked.most) } })) : null,
    ...data.notes.map((note) => el("p", { class: "aside", text: sentence(note) })),
  ];
  if (!data.passages.length) {
    return [el("h2", { class: "large", text: "Nothing found" }), ...notes];
  }
  const items = data.passages.map((passage) => el("li", {}, passageCard(passage, probable)));
  const list = el("ol", { id: "passages", class: "passages" }, items);
  const more = data.passages.length >= asked.most && asked.most < MOST
    ? el("p", { class: "more" }, el("button", { type: "button", text: "Show more passages", on: { click: () => search(2 * asked.most) } }))
    : null;
  if (probable) return [heading(data), ...notes, answerBox(used), list, more];
  return [...unlikely(data), ...notes, guesses ? list : null];
}

function heading({ passages }) {
  const documents = new Set(passages.map((passage) => passage.id)).size;
  return el("h2", { text: `${count(passages.length, "passage")} in ${count(documents, "document")}` });
}

/** Nothing is probable: say so, and mark nothing. */
function unlikely(data) {
  const show = el("button", {
    type: "button",
    text: guesses ? "Hide the guesses" : "Show the guesses",
    "aria-expanded": String(guesses),
    on: {
      click: () => {
        guesses = !guesses;
        answer.set({});
        byId("results").querySelector("[aria-expanded]")?.focus();
      },
    },
  });
  return [
    el("h2", { class: "large", text: "Nothing here is likely to answer this" }),
    el("p", { text: `The best passage is a guess, with a probability of ${percent(data.best)}. Other words may find more.` }),
    el("p", {}, show),
  ];
}

/** A note of the server as a sentence. */
function sentence(note) {
  const first = note.charAt(0).toUpperCase() + note.slice(1);
  return /[.!?]$/.test(first) ? first : `${first}.`;
}
