// How far indexing is, asked again and again while there is something to do.

import { getJson } from "./api.js";
import { byId, el, fill } from "./dom.js";
import { showFailures } from "./failures.js";
import { reload } from "./library.js";
import { announce } from "./notice.js";
import { library } from "./state.js";
import { count, figure } from "./words.js";

const SOON = 100; // milliseconds until the second question: a small file is read by then
const PAUSE = 700; // milliseconds between two questions, when reading takes longer
const LIST = 3000; // milliseconds between two loads of the list, which may be long
const LATER = 5000; // milliseconds until a server that did not answer is asked again

let watching = false;
let more = false; // somebody wants to know since the last question was sent
let indexed = null; // documents indexed since the server started, as last seen
let listed = 0;

window.addEventListener("indexing", () => watch());

/** Watch until nothing is left to index. */
export async function watch() {
  more = true;
  if (watching) return;
  watching = true;
  let worked = false;
  for (let busy = false, pause = SOON; more || busy; pause = Math.min(2 * pause, PAUSE)) {
    if (busy) await new Promise((resolve) => setTimeout(resolve, pause));
    if (more) pause = SOON;
    more = false;
    try {
      const state = await getJson("indexing");
      busy = !state.idle;
      worked ||= busy;
      show(state);
      const changed = indexed !== null && indexed !== state.indexed;
      indexed = state.indexed;
      if ((changed && Date.now() - listed > LIST) || (!busy && (worked || changed))) {
        listed = Date.now();
        await reload();
      }
    } catch (error) {
      fill(byId("indexing"), el("p", { class: "aside warning", text: error.message }));
      if (busy) await new Promise((resolve) => setTimeout(resolve, LATER));
    }
  }
  if (worked) announce(`Indexing is done: ${count(library.value.documents.length, "document")}.`);
  watching = false;
}

function show({ idle, current, waiting, failed }) {
  const words = current ? `reading ${figure(current.number)} of ${figure(current.documents)}` : "reading…";
  byId("library-state").textContent = idle ? "" : words;
  fill(byId("indexing"), idle ? null : work(current, waiting));
  const missing = idle ? "" : unread(current, waiting);
  if (missing !== library.value.missing) library.set({ missing });
  showFailures(failed);
}

/** What is not read yet, for those who ask meanwhile. */
function unread(current, waiting) {
  const left = (current ? current.documents - current.number + 1 : 0) + waiting;
  const files = left > 1 ? `${count(left, "file")} are` : "A file is";
  return `${files} still being read, so something may be missing. The results are renewed as files are read.`;
}

function work(current, waiting) {
  if (!current) {
    return [el("p", { text: "Looking for what has changed…" }), el("progress", { "aria-label": "Indexing" })];
  }
  const { name, number, documents, sentences, done } = current;
  const bar = el("progress", { max: Math.max(1, sentences), "aria-label": `Indexing of ${name}` });
  bar.value = done;
  const place = documents > 1 ? `Document ${figure(number)} of ${figure(documents)}. ` : "";
  const later = waiting ? `${count(waiting, "more upload")} ${waiting === 1 ? "waits" : "wait"}.` : "";
  return [
    el("p", { text: `Reading ${name}` }),
    bar,
    place || later ? el("p", { class: "aside", text: place + later }) : null,
  ];
}
