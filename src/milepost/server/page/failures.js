// Files that could not be read: one line each, with what would make them readable.

import { postJson, remove } from "./api.js";
import { byId, el, fill, icon } from "./dom.js";
import { announce } from "./notice.js";
import { library } from "./state.js";
import { count } from "./words.js";

let failures = []; // as last seen
const dismissed = new Set();

/** Show the failures that nobody has dismissed. */
export function showFailures(failed) {
  const now = failed.filter((one) => !dismissed.has(one.id + one.reason));
  if (JSON.stringify(now) === JSON.stringify(failures)) return; // a field in use stays
  if (now.length > failures.length) announce(`${now.at(-1).name} could not be read: ${now.at(-1).reason}`);
  failures = now;
  show();
}

function show() {
  byId("failures").hidden = !failures.length;
  byId("failures-count").textContent = `${count(failures.length, "file")} could not be read`;
  fill(byId("failure-list"), failures.map(row));
}

function row(one) {
  const [reason, hint] = one.reason.replace(`${one.name} `, "").split("; try: ");
  return el("li", {},
    el("div", { class: "about" },
      el("p", { text: one.name }),
      el("p", { class: "aside", text: one.remedy || !hint ? `${reason}.` : `${reason}. Try: ${hint}` }),
      one.remedy ? remedy(one, hint) : null),
    el("button", {
      type: "button",
      class: "bare",
      "aria-label": `Dismiss the message about ${one.name}`,
      on: { click: () => dismiss(one) },
    }, icon("close")));
}

/** A form that has the server read the file once more. */
function remedy(one, hint) {
  const locked = one.remedy === "password";
  const field = locked
    ? el("input", { type: "password", required: true, maxlength: 200, autocomplete: "off", placeholder: "Password", "aria-label": `Password of ${one.name}` })
    : el("span", { class: "aside", text: /about [^)]+/.exec(hint)?.[0] ?? "" });
  const button = el("button", { type: "submit", text: locked ? "Open" : "Read the scan" });
  const problem = el("p", { class: "aside warning", role: "alert" });
  const submit = async (event) => {
    event.preventDefault();
    button.disabled = true;
    problem.textContent = "";
    try {
      await postJson(`documents/${one.id}/reading`, locked ? { password: field.value } : { ocr: true });
      window.dispatchEvent(new Event("indexing"));
    } catch (error) {
      problem.textContent = error.message.split("; try: ")[0];
      button.disabled = false;
    }
    if (locked) field.value = "";
  };
  return el("form", { on: { submit } }, el("div", { class: "row" }, field, button), problem);
}

/** Show a failure no more; an upload that cannot be read is of no use, so its copy goes as well. */
async function dismiss(one) {
  dismissed.add(one.id + one.reason);
  failures = failures.filter((other) => other !== one);
  show();
  byId("documents-heading").focus();
  const known = library.value.documents.some(({ id }) => id === one.id);
  if (!known && !library.value.ready?.read_only) {
    await remove(`documents/${one.id}`).catch(() => null); // a file of a folder, which stays
  }
}
