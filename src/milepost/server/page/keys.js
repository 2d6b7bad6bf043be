// The keyboard: / goes to the question, arrows go through the passages, Enter opens the one that has
// the focus (it is a link), Esc closes what is open.

import { close } from "./document.js";
import { byId } from "./dom.js";
import { route } from "./state.js";

/** Listen to keys. */
export function startKeys() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.ctrlKey || event.metaKey) return;
    if (document.querySelector("dialog[open]")) return; // it has the keyboard for itself
    const heard = { "/": toQuestion, Escape: leave, ArrowDown: () => move(event, 1), ArrowUp: () => move(event, -1) }[event.key];
    if (heard?.(event)) event.preventDefault();
  });
}

const isWriting = (node) => node.matches("input:not([type=checkbox]), textarea, select, [contenteditable]");

function toQuestion(event) {
  if (isWriting(event.target)) return false;
  byId("question").focus();
  byId("question").select();
  return true;
}

function leave() {
  const menu = document.querySelector("details.menu[open]");
  if (menu) {
    menu.open = false;
    menu.querySelector("summary").focus();
    return true;
  }
  if (route.value.open === null) return false;
  close();
  return true;
}

function move(event, step) {
  const titles = [...document.querySelectorAll("#passages .title")];
  const at = titles.findIndex((title) => title.closest(".passage").contains(event.target));
  if (at === -1 && !(event.target === byId("question") && step > 0)) return false; // else it scrolls
  const next = at + step;
  if (next < 0) byId("question").focus();
  else titles[Math.min(next, titles.length - 1)]?.focus();
  return titles.length > 0;
}
