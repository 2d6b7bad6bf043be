// The list of documents: which there are, which are searched, and what can be removed.

import { getJson, remove } from "./api.js";
import { byId, el, fill, icon } from "./dom.js";
import { NO_FILTER, passes } from "./filter.js";
import { confirmed, notify } from "./notice.js";
import { fileOf, titleOf } from "./passage.js";
import { answer, go, library, placeOf, route } from "./state.js";
import { count, dated, figure } from "./words.js";

const PART = 1000; // documents of one request
const SHOWN = 200; // rows of the list; a filter finds the others
const MANY = 8; // documents from which a filter is of use

let loading = null;
const unfolded = new Set(); // documents whose notes are shown

/** Load the list, and show it whenever it changes. */
export function startLibrary() {
  library.listen((now, before) => {
    if (now.documents !== before.documents || now.status !== before.status) show();
  });
  route.listen((now, before) => {
    if (now.chosen !== before.chosen || now.filter !== before.filter || now.open !== before.open) show();
  });
  byId("filter").addEventListener("input", show);
  byId("library-button").addEventListener("click", () => {
    const open = document.body.classList.toggle("library-open");
    byId("library-button").setAttribute("aria-expanded", String(open));
  });
  return reload();
}

/** Load the list again; a load that runs already is followed by one more. */
export async function reload() {
  if (loading) return (loading.again ??= loading.promise.then(reload));
  loading = { promise: load(), again: null };
  try {
    await loading.promise;
  } finally {
    loading = null;
  }
  return undefined;
}

async function load() {
  try {
    const documents = [];
    let cursor = null;
    do {
      const after = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const part = await getJson(`documents?limit=${PART}${after}`);
      documents.push(...part.documents);
      cursor = part.cursor;
    } while (cursor !== null);
    // Last: while the model is loaded, requests for documents wait, and /ready does not.
    const ready = await getJson("ready");
    const changed = signature(documents) !== signature(library.value.documents);
    const first = library.value.status !== "ready";
    library.set({ status: "ready", ready, error: null, ...((changed || first) && { documents }) });
    const there = new Set(documents.map(({ id }) => id));
    go({ chosen: route.value.chosen.filter((id) => there.has(id)) }, { replace: true });
  } catch (error) {
    library.set({ status: library.value.status === "ready" ? "ready" : "failed", error });
  }
}

const signature = (documents) => documents.map(({ id, characters, sentences }) => `${id}${characters}.${sentences}`).join();

function show() {
  const { documents, ready, status } = library.value;
  const words = byId("filter").value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const chosen = new Set(route.value.chosen);
  const named = (document) => words.every((word) => `${titleOf(document)} ${document.name}`.toLowerCase().includes(word));
  const matching = documents.filter((document) => named(document) && passes(document, route.value.filter));
  const focused = document.activeElement?.dataset?.row;
  byId("filter-row").hidden = documents.length < MANY;
  byId("add-files").hidden = status !== "ready" || ready.read_only;
  byId("library-count").textContent = status === "ready" ? figure(documents.length) : "";
  fill(byId("documents"), matching.slice(0, SHOWN).map((document) => row(document, chosen)));
  byId("documents").classList.toggle("choosing", chosen.size > 0);
  // The rows are new: what had the focus gets it back.
  if (focused) byId("documents").querySelector(`[data-row="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
  fill(byId("documents-note"), note(matching.length, documents.length, words.length));
  fill(byId("scope"), scope(documents, chosen));
}

function note(matching, all, filtered) {
  if (matching > SHOWN) return `${figure(matching - SHOWN)} more; type a part of the name to find them.`;
  if (filtered && !matching) return `None of ${count(all, "document")} has this in its name.`;
  return "";
}

function scope(documents, chosen) {
  const { kind, author, from, until } = route.value.filter;
  const named = documents.filter(({ id }) => chosen.has(id)).map(titleOf);
  const parts = [
    named.length === 1 ? named[0] : named.length ? count(named.length, "document") : "",
    kind && `${kind} files`, author && `by ${author}`, from && `from ${dated(from)}`, until && `until ${dated(until)}`,
  ].filter(Boolean);
  if (!parts.length) return "";
  return [
    el("span", {}, "Only ", el("strong", { text: parts.join(", ") }), ". "),
    el("button", { type: "button", class: "link", text: "Search all", on: { click: () => go({ chosen: [], filter: NO_FILTER }) } }),
  ];
}

function row(document, chosen) {
  const { id, name, pages, reference, notes } = document;
  const title = titleOf(document);
  const box = el("input", { type: "checkbox", "aria-label": `Search only in ${title}`, data: { row: `box-${id}` } });
  box.checked = chosen.has(id);
  box.addEventListener("change", () => choose(id, box.checked));
  const facts = [
    fileOf(document),
    pages && count(pages, name.endsWith(".pptx") ? "slide" : "page"),
    reference?.date && dated(reference.date),
  ].filter(Boolean);
  return el("li", { class: route.value.open?.id === id ? "open" : "" },
    box,
    el("div", { class: "about" },
      el("a", { href: placeOf(id), text: title, data: { row: `open-${id}` } }),
      facts.length ? el("p", { class: "aside", text: facts.join(" · ") }) : null,
      notes.length ? remarks(id, notes) : null),
    library.value.ready.read_only ? null : el("button", {
      type: "button",
      class: "quiet remove",
      "aria-label": `Remove ${title}`,
      data: { row: `remove-${id}` },
      on: { click: () => discard(document) },
    }, icon("remove"), el("span", { text: "Remove" })));
}

/** What of a document was left out; it stays unfolded when the list is drawn anew. */
function remarks(id, notes) {
  const details = el("details", { on: { toggle: () => unfolded[details.open ? "add" : "delete"](id) } },
    el("summary", { class: "aside", text: count(notes.length, "note"), data: { row: `notes-${id}` } }),
    notes.map((text) => el("p", { class: "aside", text })));
  details.open = unfolded.has(id);
  return details;
}

function choose(id, wanted) {
  const others = route.value.chosen.filter((one) => one !== id);
  go({ chosen: wanted ? [...others, id] : others });
}

async function discard(document) {
  const { id, uploaded } = document;
  const title = titleOf(document);
  const yes = await confirmed({
    title: `Remove “${title}”?`,
    text: uploaded
      ? "It is removed from the index, and the uploaded copy is deleted. The file that you uploaded stays on your disk."
      : "It is removed from the index. Its file stays where it is, and is indexed again when the server starts again with it.",
    action: "Remove",
  });
  if (!yes) return;
  try {
    await remove(`documents/${id}`);
  } catch (error) {
    if (error.status !== 404) { // gone already is as good
      notify(error.message);
      return;
    }
  }
  const { chosen, open } = route.value;
  go({ chosen: chosen.filter((one) => one !== id), open: open?.id === id ? null : open }, { replace: true });
  await reload();
  notify(`${title} was removed`);
  byId("documents-heading").focus();
}
