// How far indexing is, asked again and again while there is something to do.

import { getJson, remove } from "./api.js";
import { byId, el, fill, icon } from "./dom.js";
import { reload } from "./library.js";
import { announce } from "./notice.js";
import { library } from "./state.js";
import { count, figure } from "./words.js";

const PAUSE = 700; // milliseconds between two questions
const LIST = 3000; // milliseconds between two loads of the list, which may be long
const LATER = 5000; // milliseconds until a server that did not answer is asked again

let watching = false;
let more = false; // somebody wants to know since the last question was sent
let indexed = null; // documents indexed since the server started, as last seen
let listed = 0;
let failures = []; // as last seen
const dismissed = new Set();

window.addEventListener("indexing", () => watch());

/** Watch until nothing is left to index. */
export async function watch() {
  more = true;
  if (watching) return;
  watching = true;
  let worked = false;
  for (let busy = false; more || busy; ) {
    if (busy) await new Promise((resolve) => setTimeout(resolve, PAUSE));
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
  const now = failed.filter((one) => !dismissed.has(one.id + one.reason));
  if (JSON.stringify(now) === JSON.stringify(failures)) return; // a button in use stays
  if (now.length > failures.length) announce(`${now.at(-1).title} could not be read: ${now.at(-1).reason}`);
  failures = now;
  showFailures();
}

/** What is not read yet, for those who ask meanwhile. */
function unread(current, waiting) {
  const left = (current ? current.documents - current.number + 1 : 0) + waiting;
  const files = left > 1 ? `${count(left, "file")} are` : "A file is";
  return `${files} still being read, so something may be missing. The results are renewed as files are read.`;
}

function showFailures() {
  byId("failures").hidden = !failures.length;
  byId("failures-count").textContent = `${count(failures.length, "file")} could not be read`;
  fill(byId("failure-list"), failures.map(failure));
}

function work(current, waiting) {
  if (!current) {
    return [el("p", { text: "Looking for what has changed…" }), el("progress", { "aria-label": "Indexing" })];
  }
  const { title, number, documents, sentences, done } = current;
  const bar = el("progress", { max: Math.max(1, sentences), "aria-label": `Indexing of ${title}` });
  bar.value = done;
  const place = documents > 1 ? `Document ${figure(number)} of ${figure(documents)}. ` : "";
  const later = waiting ? `${count(waiting, "more upload")} ${waiting === 1 ? "waits" : "wait"}.` : "";
  return [
    el("p", { text: `Reading ${title}` }),
    bar,
    place || later ? el("p", { class: "aside", text: place + later }) : null,
  ];
}

function failure(one) {
  const [reason, hint] = one.reason.replace(`${one.title} `, "").split("; try: ");
  return el("li", {},
    el("div", { class: "about" },
      el("p", { text: one.title }),
      el("p", { class: "aside", text: !hint ? `${reason}.` : `${reason}. Try: ${hint}` })),
    el("button", {
      type: "button",
      class: "bare",
      "aria-label": `Dismiss the message about ${one.title}`,
      on: { click: () => dismiss(one) },
    }, icon("close")));
}

/** Show a failure no more; an upload that cannot be read is of no use, so its copy goes as well. */
async function dismiss(one) {
  dismissed.add(one.id + one.reason);
  failures = failures.filter((other) => other !== one);
  showFailures();
  byId("documents-heading").focus();
  const known = library.value.documents.some(({ id }) => id === one.id);
  if (!known && !library.value.ready?.read_only) {
    await remove(`documents/${one.id}`).catch(() => null); // a file of a folder, which stays
  }
}
