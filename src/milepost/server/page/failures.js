// Files that could not be read: one line each, with what would make them readable.

import { postJson, remove } from "./api.js";
import { byId, el, fill, icon } from "./dom.js";
import { announce, notify } from "./notice.js";
import { library } from "./state.js";
import { count } from "./words.js";

let failures = []; // as last seen
let opened = false; // whether those from before the page was opened are known: they are no news
const dismissed = new Set();

const keyOf = (one) => one.id + one.reason;

/** Why a file could not be read, and what may mend it. */
const reasonOf = ({ name, reason }) => reason.replace(`${name} `, "").split("; try: ");

/** Show the failures that nobody has dismissed. */
export function showFailures(failed) {
  const listed = new Set(failed.map(keyOf));
  for (const key of dismissed) if (!listed.has(key)) dismissed.delete(key); // it may fail once more
  const now = failed.filter((one) => !dismissed.has(keyOf(one)));
  const say = opened ? notify : announce;
  opened = true;
  if (JSON.stringify(now) === JSON.stringify(failures)) return; // a field in use stays
  if (now.length > failures.length) say(`${now.at(-1).name} could not be read: ${reasonOf(now.at(-1))[0]}.`);
  failures = now;
  show();
}

function show() {
  byId("failures").hidden = !failures.length;
  byId("failures-count").textContent = `${count(failures.length, "file")} could not be read`;
  fill(byId("failure-list"), failures.map(row));
}

function row(one) {
  const [reason, hint] = reasonOf(one);
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
  dismissed.add(keyOf(one));
  failures = failures.filter((other) => other !== one);
  show();
  byId("documents-heading").focus();
  const known = library.value.documents.some(({ id }) => id === one.id);
  if (!known && !library.value.ready?.read_only) {
    const gone = () => dismissed.delete(keyOf(one)); // the same file may be uploaded once more
    await remove(`documents/${one.id}`).then(gone, () => null); // a file of a folder stays
  }
}
