// The open document: as pages or as text, at a place, with its strip and what can be done there.

import { citeMenu } from "./actions.js";
import { getJson, isAborted } from "./api.js";
import { byId, el, fill, problemBox } from "./dom.js";
import { HeatStrip } from "./heat.js";
import { cited, passagesIn, spansAt, textOf } from "./marks.js";
import { fileOf, titleOf } from "./passage.js";
import { PdfView } from "./pdf.js";
import { answer, go, library, route } from "./state.js";
import { TextView } from "./text.js";
import { Tools } from "./tools.js";
import { markAt, placeAt } from "./words.js";

const HOT = 0.375; // height of the strip from which a click goes to the sentence, not to the part
const BEYOND = "The link leads beyond the end of this document, which may have changed since.";
const SLOW = 1000; // milliseconds after which people are told what takes so long

let strip = null;
let tools = null;
let open = null; // the document that is shown: its id, details, view and place
let asPages = true; // how people like to see PDFs
let cameFrom = null; // what had the focus before

/** Follow the address, and the answer that says what to mark. */
export function startDocument() {
  strip = new HeatStrip(toCell);
  tools = new Tools(() => open);
  byId("document-close").addEventListener("click", close);
  byId("as-pages").addEventListener("click", () => change(true));
  byId("as-text").addEventListener("click", () => change(false));
  fill(byId("document-actions"), citeMenu(() => cited(open)));
  narrow.addEventListener("change", cover);
  route.listen((now, before) => {
    if (JSON.stringify(now.open) !== JSON.stringify(before.open)) show(now.open, true);
  });
  answer.listen((now, before) => {
    markCard(route.value.open); // the cards are new
    if (open?.details && now.status !== "loading" && (now.data !== before.data || now.weak !== before.weak)) remark();
  });
  library.listen(() => markCard(route.value.open)); // the list may come after the answer
  show(route.value.open, false);
}

/** Close the document; the focus returns to where it was opened. */
export function close() {
  go({ open: null });
}

const narrow = matchMedia("(max-width: 62rem)");

/** On a narrow screen the document covers everything else, which then cannot be reached. */
function cover() {
  const covered = narrow.matches && route.value.open !== null;
  for (const id of ["top", "side", "results"]) byId(id).inert = covered;
}

async function show(place, focus) {
  byId("document").hidden = place === null;
  document.body.classList.toggle("reading", place !== null);
  if (place !== null && open === null) cameFrom = document.activeElement;
  cover();
  markCard(place);
  if (place === null) {
    const last = open?.place;
    open?.view?.close();
    open = null;
    if (focus) restoreFocus(last);
    return;
  }
  if (open?.id !== place.id || !open.details) {
    if (focus) byId("document-title").focus({ preventScroll: true });
    if (!(await load(place.id))) return;
  } else if (focus) {
    byId("document-title").focus({ preventScroll: true });
  }
  await reach(place);
}

function markCard(place) {
  for (const card of document.querySelectorAll(".passage")) {
    const here = place !== null && card.dataset.id === place.id && Number(card.dataset.start) === place.start;
    card.toggleAttribute("data-open", here);
  }
}

/** The focus goes to what opened the document, else to the passage of the last place. */
function restoreFocus(last) {
  const there = cameFrom?.isConnected && cameFrom !== document.body;
  const card = last && document.querySelector(`.passage[data-id="${CSS.escape(last.id)}"][data-start="${last.start}"] .title`);
  (there ? cameFrom : card ?? byId("question")).focus({ preventScroll: true });
  cameFrom = null;
}

/** Load a document; false where somebody opened another one meanwhile, or it failed. */
async function load(id) {
  open?.view?.close();
  const mine = (open = { id, view: null, details: null, sizes: null, place: null, offset: 0 });
  const known = library.value.documents.find((one) => one.id === id);
  byId("document-title").textContent = known ? titleOf(known) : "Document";
  byId("document-where").textContent = "Loading…";
  fill(byId("document-body"), el("div", { class: "skeleton", "aria-hidden": "true" }, el("span"), el("span"), el("span")));
  strip.draw(null, []);
  tools.hide();
  quote("");
  note("");
  try {
    const details = await getJson(`documents/${encodeURIComponent(id)}`);
    if (details.pdf) {
      mine.sizes = await getJson(`documents/${id}/pages`).then((found) => found.pages, (error) => {
        mine.problem = `Its pages cannot be shown: ${error.message}`;
        return null;
      });
    }
    if (mine !== open) return false;
    mine.details = details;
    byId("document-title").textContent = titleOf(details);
    byId("document-body").setAttribute("aria-label", `Content of ${titleOf(details)}`);
    build();
    return true;
  } catch (error) {
    if (mine === open) fail(error.status === 404 ? new Error("This document is not here. It may have been removed.") : error);
    return false;
  }
}

/** Make the view of the open document, as pages or as text. */
function build() {
  const { details, sizes } = open;
  const body = byId("document-body");
  open.view?.close();
  const pages = asPages && sizes !== null;
  open.view = pages
    ? new PdfView(body, details, sizes, (page) => movedTo(offsetOn(page), page))
    : new TextView(body, details, (offset) => movedTo(offset, markAt(details.marks, "page", offset)));
  body.classList.toggle("as-pages", pages);
  byId("document-quote").classList.toggle("visually-hidden", !pages); // the text itself shows it
  tools.choose(pages);
  drawStrip();
}

/** Go to a place of the open document and mark it. */
async function reach(wanted) {
  const { view, details } = open;
  const mine = open;
  const place = (open.place = within(wanted, details.characters));
  open.beyond = place !== wanted;
  remarks();
  tools.results();
  try {
    if (view instanceof TextView) {
      view.mark(spansAt(place));
      await view.show(place.start ?? 0);
      if (mine === open) movedTo(place.start ?? 0, markAt(details.marks, "page", place.start ?? 0));
      await showQuote(place, []);
    } else {
      await showQuote(place, []); // before the pages, which it moves down
      if (mine !== open) return;
      await view.showPage(place.start === null ? 1 : pageOf(place.start));
      await markPages(place, true);
    }
  } catch (error) {
    if (!isAborted(error) && mine === open) fail(error);
  }
}

async function markPages(place, follow) {
  const { view } = open;
  const spans = spansAt(place);
  const slow = setTimeout(() => {
    if (view === open?.view && spans.length) note("Looking for the sentence on its page. The first time in a document can take a while.");
  }, SLOW);
  try {
    await view.mark(spans, async (pages) => {
      clearTimeout(slow);
      if (view !== open?.view || place !== open.place) return;
      remarks();
      await showQuote(place, pages);
      if (follow) view.showFirst();
    });
  } catch (error) {
    if (!isAborted(error)) note(error.message); // the pages can be read without marks
  } finally {
    clearTimeout(slow);
  }
}

/** The part of a place that is in a text so long; the place itself where all of it is. */
function within(place, characters) {
  if (place.start === null || (place.start < characters && place.end <= characters)) return place;
  if (place.start < characters) return { ...place, end: characters };
  return { ...place, start: Math.max(0, characters - 1), end: null };
}

/** Say what is to be known of the open document. */
const remarks = () => note([open.problem, open.beyond ? BEYOND : ""].filter(Boolean).join(" "));

const note = (text) => {
  byId("document-note").textContent = text;
};

const pageOf = (offset) => Number(markAt(open.details.marks, "page", offset) ?? 1);

/** The answer is another one: mark what it says, and leave the window where it is. */
function remark() {
  drawStrip();
  tools.results();
  if (!open.place) return;
  if (open.view instanceof TextView) {
    open.view.mark(spansAt(open.place));
    showQuote(open.place, []);
  } else {
    markPages(open.place, false);
  }
}

/** The marked sentence in words: a picture can be neither selected nor read out. */
async function showQuote(place, pages) {
  const marked = spansAt(place)[0]?.kind === "best" && place.end !== null;
  const text = marked ? await textOf(place) : "";
  if (place !== open?.place) return;
  const across = pages.length > 1 ? `Pages ${pages[0]} and ${pages.at(-1)}. ` : "";
  quote(text, across);
}

function quote(text, before = "") {
  byId("document-quote").hidden = !text;
  fill(byId("document-quote"), before ? el("strong", { text: before }) : null, text);
}

function fail(error) {
  byId("document-where").textContent = "";
  open?.view?.close();
  const again = () => {
    open = null;
    show(route.value.open, false);
  };
  fill(byId("document-body"), problemBox(error, again));
}

function movedTo(offset, page) {
  const { details, sizes } = open;
  const heading = markAt(details.marks, "heading", offset)?.replace(/\s+/g, " ");
  const where = page && sizes ? `page ${page} of ${sizes.length}` : placeAt(details.marks, offset);
  open.offset = offset;
  const place = where && where[0].toUpperCase() + where.slice(1);
  byId("document-where").textContent = [place, fileOf(details), heading].filter(Boolean).join(" · ");
  tools.moved(page);
  strip.move(offset / Math.max(1, details.characters));
}

/** An offset on a page: that of the place, if it is there, else where the page begins. */
function offsetOn(page) {
  const { place, details } = open;
  if (place?.start && pageOf(place.start) === page) return place.start;
  return details.marks.findLast(({ kind, value }) => kind === "page" && Number(value) <= page)?.offset ?? 0;
}

function drawStrip() {
  const { id, details } = open;
  const { data } = answer.value;
  const passages = passagesIn(id);
  const heat = (passages.length && data.heat?.[id]) || null;
  const middle = ({ start, end }) => (start + end) / 2 / Math.max(1, details.characters);
  strip.draw(heat, passages.map((passage) => middle(passage.hits[0])));
  strip.move(open.offset / Math.max(1, details.characters));
}

/** A part of the strip was chosen: to its best sentence, or to where it begins. */
async function toCell(cell) {
  if (!open?.details) return;
  const { id, details } = open;
  const { data } = answer.value;
  const heat = passagesIn(id).length ? data.heat?.[id]?.[cell] ?? 0 : 0;
  if (heat >= HOT) {
    const peak = data.peaks[id][cell];
    const found = await getJson(`documents/${id}/sentences?start=${peak}&end=${Math.min(peak + 1, details.characters)}`).catch(() => null);
    if (found?.sentences.length && open?.id === id) {
      const [start, end] = found.sentences[0];
      go({ open: { id, start, end } }, { replace: true });
      return;
    }
  }
  const offset = Math.floor((cell * details.characters) / 64);
  if (open.view instanceof TextView) open.view.show(offset).catch((error) => isAborted(error) || fail(error));
  else open.view.showPage(pageOf(offset));
}

function change(pages) {
  asPages = pages;
  if (!open?.place) return;
  const { offset, place } = open;
  const near = place.end !== null && Math.abs(place.start - offset) < 3000;
  build();
  reach(near ? place : { id: open.id, start: offset, end: null });
}
