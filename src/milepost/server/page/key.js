// The API key, where the server wants one: asked for once, kept until the browser's tab is closed.

import { byId } from "./dom.js";

const NAME = "milepost-key";
let asking = null; // several requests may find out at once; people are asked once

/** The key that was given, or "". */
export function currentKey() {
  return sessionStorage.getItem(NAME) ?? "";
}

/**
 * Ask for a key and keep it.
 *
 * @param {string} refused the key that the server did not take, or ""
 */
export function askForKey(refused) {
  if (currentKey() !== refused) return Promise.resolve(); // another request has asked meanwhile
  asking ??= ask(refused).finally(() => {
    asking = null;
  });
  return asking;
}

function ask(refused) {
  const dialog = byId("key-dialog");
  const field = byId("key-field");
  const problem = byId("key-problem");
  problem.textContent = refused ? "The server did not accept this key." : "";
  field.value = "";
  field.setAttribute("aria-invalid", String(Boolean(refused)));
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.oncancel = (event) => event.preventDefault(); // nothing works without a key
    byId("key-form").onsubmit = (event) => {
      event.preventDefault();
      const key = field.value.trim();
      if (!/^[\x21-\x7e]+$/.test(key)) { // others cannot be sent in a header
        problem.textContent = "A key has letters, digits and signs, without spaces.";
        return;
      }
      sessionStorage.setItem(NAME, key);
      dialog.close();
      resolve();
    };
  });
}
