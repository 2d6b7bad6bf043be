// Files that are dropped or chosen: sent one after the other, with what became of each.

import { upload } from "./api.js";
import { byId, el, fill, icon, mayPass } from "./dom.js";
import { confirmed, notify } from "./notice.js";
import { watch } from "./progress.js";
import { library } from "./state.js";
import { percent, size } from "./words.js";

let sending = false;
let queue = []; // of { file, state: waiting | sending | failed, fraction, reason, again: may be tried again, stop }

/** Take files from the button, and from a drop anywhere on the page. */
export function startUpload() {
  byId("add-files").addEventListener("click", () => byId("files").click());
  byId("files").addEventListener("change", (event) => {
    take([...event.target.files]);
    event.target.value = ""; // the same file can be chosen again
  });
  startDrop();
}

function startDrop() {
  let inside = 0; // elements that the pointer has entered and not left
  const overlay = byId("drop");
  const carries = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  const allowed = () => library.value.ready && !library.value.ready.read_only;
  window.addEventListener("dragenter", (event) => {
    if (!carries(event)) return;
    inside += 1;
    overlay.hidden = !allowed();
  });
  window.addEventListener("dragleave", (event) => {
    if (!carries(event)) return;
    inside = Math.max(0, inside - 1);
    overlay.hidden = inside === 0;
  });
  window.addEventListener("dragover", (event) => {
    if (carries(event)) event.preventDefault();
  });
  window.addEventListener("drop", (event) => {
    if (!carries(event)) return;
    event.preventDefault(); // or the browser would open the file in place of the page
    inside = 0;
    overlay.hidden = true;
    if (allowed()) take(dropped(event.dataTransfer));
  });
}

/** The files of a drop; folders are refused, since two of their files may have the same name. */
function dropped(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const folders = items.filter((item) => item.webkitGetAsEntry?.()?.isDirectory);
  if (folders.length) notify("Folders cannot be dropped. Drop their files, or run: milepost serve FOLDER");
  return items.filter((item) => !folders.includes(item)).map((item) => item.getAsFile()).filter(Boolean);
}

async function take(files) {
  const uploaded = new Set(library.value.documents.filter((one) => one.uploaded).map((one) => one.name));
  const replacing = files.filter((file) => uploaded.has(file.name));
  enqueue(files.filter((file) => !uploaded.has(file.name)));
  if (!replacing.length) return;
  const yes = await confirmed({
    title: replacing.length === 1 ? `Replace “${replacing[0].name}”?` : `Replace ${replacing.length} documents?`,
    text: `There are documents of the same name already. The new files take their place.${replacing.length < files.length ? " The other files are added in any case." : ""}`,
    action: "Replace",
  });
  if (yes) enqueue(replacing);
}

function enqueue(files) {
  for (const file of files) {
    const problem = problemOf(file, library.value.ready);
    queue.push({ file, state: problem ? "failed" : "waiting", fraction: 0, reason: problem, again: false, stop: new AbortController() });
  }
  show();
  send();
}

/** Why the server would not take a file; null where it may. */
function problemOf({ name, size: bytes }, { binary, max_upload: most }) {
  const ending = /\.[^.]+$/.exec(name.toLowerCase())?.[0];
  if (bytes === 0) return "it is empty";
  if (bytes > most) return `it is larger than ${size(most)}`;
  return binary.includes(ending) ? `files ending in ${ending} are not read` : null;
}

async function send() {
  if (sending) return;
  sending = true;
  for (let each; (each = queue.find(({ state }) => state === "waiting")); ) {
    each.state = "sending";
    show();
    try {
      await upload(each.file, (fraction) => each.tell(fraction), each.stop.signal);
      leave(each); // from here on it is the indexing that reports
    } catch (error) {
      Object.assign(each, { state: "failed", reason: error.message, again: mayPass(error) });
    }
    show();
    watch();
  }
  sending = false;
}

function leave(each) {
  queue = queue.filter((other) => other !== each);
}

function show() {
  fill(byId("uploads"), queue.map((each) => el("li", { class: each.state === "failed" ? "failed" : "" },
    el("div", { class: "about" },
      el("p", { text: each.file.name }),
      each.state === "failed"
        ? [el("p", { class: "aside", text: `Not uploaded: ${each.reason}` }), each.again ? retry(each) : null]
        : progress(each)),
    ending(each))));
}

function retry(each) {
  const click = () => {
    Object.assign(each, { state: "waiting", fraction: 0 });
    show();
    send();
    byId("documents-heading").focus();
  };
  return el("button", { type: "button", text: "Try again", "aria-label": `Upload ${each.file.name} again`, on: { click } });
}

function progress(each) {
  const { file, state } = each;
  if (state === "waiting") return el("p", { class: "aside", text: `Waits · ${size(file.size)}` });
  const bar = el("progress", { max: 1, "aria-label": `Upload of ${file.name}` });
  const words = el("p", { class: "aside" });
  each.tell = (fraction) => { // nothing is drawn anew: a button would be gone before the click on it ends
    each.fraction = fraction;
    if (fraction < 1) bar.value = fraction;
    else bar.removeAttribute("value"); // the server writes: how long, nobody knows
    words.textContent = `Uploading · ${fraction < 1 ? percent(fraction) : "nearly done"}`;
  };
  each.tell(each.fraction);
  return [bar, words];
}

function ending(each) {
  const name = each.file.name;
  return el("button", {
    type: "button",
    class: "bare",
    "aria-label": each.state === "failed" ? `Dismiss the message about ${name}` : `Cancel the upload of ${name}`,
    on: {
      click: () => {
        each.stop.abort();
        leave(each);
        show();
        byId("documents-heading").focus();
      },
    },
  }, icon("close"));
}
