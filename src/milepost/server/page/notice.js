// Short messages, questions with yes or no, and the clipboard.

import { byId } from "./dom.js";

const SHOWN = 4000; // milliseconds

let timer;

/** Say something to screen readers alone. */
export function announce(text) {
  const region = byId("announcer");
  // The same words twice would be read once: a no-break space makes them differ.
  region.textContent = region.textContent === text ? `${text}\u00a0` : text;
}

/** Show a message for some seconds, and read it out. */
export function notify(text) {
  const toast = byId("toast");
  toast.textContent = text;
  toast.hidden = false;
  announce(text);
  clearTimeout(timer);
  timer = setTimeout(() => {
    toast.hidden = true;
  }, SHOWN);
}

/** Ask before something that cannot be undone; true where the answer is yes. */
export function confirmed({ title, text, action }) {
  const dialog = byId("confirm-dialog");
  byId("confirm-title").textContent = title;
  byId("confirm-text").textContent = text;
  byId("confirm-yes").textContent = action;
  byId("confirm-yes").className = action === "Remove" ? "primary danger" : "primary";
  dialog.returnValue = "";
  dialog.showModal();
  byId("confirm-no").focus();
  return new Promise((resolve) => {
    byId("confirm-yes").onclick = () => dialog.close("yes");
    byId("confirm-no").onclick = () => dialog.close();
    dialog.onclose = () => resolve(dialog.returnValue === "yes");
  });
}

/** Copy a text and say so. */
export async function copy(text, what) {
  const done = (await byClipboard(text)) || bySelection(text);
  notify(done ? `${what} copied` : `${what} could not be copied: the browser does not allow it`);
}

async function byClipboard(text) {
  try {
    await navigator.clipboard.writeText(text); // missing on a plain http page of another machine
    return true;
  } catch {
    return false;
  }
}

function bySelection(text) {
  const field = document.createElement("textarea");
  const focused = document.activeElement;
  field.value = text;
  field.className = "visually-hidden";
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  focused?.focus();
  return done;
}
