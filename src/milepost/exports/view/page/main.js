// The page, put together: its data are opened, then it works as the page of `milepost serve` does.
// Read: engine.js (a question to passages), api.js (what that page is told), pack.js (the data).

import { answerFrom } from "./api.js";
import { startDocument } from "./document.js";
import { byId, el, fill } from "./dom.js";
import { readEngine } from "./engine.js";
import { fold } from "./folding.js";
import { startKeys } from "./keys.js";
import { startLibrary } from "./library.js";
import { readOperators } from "./operators.js";
import { Pack, bytesOf } from "./pack.js";
import { Points } from "./points.js";
import { startSearch } from "./search.js";
import { occurrences, stripped } from "./verbatim.js";

try {
  const data = byId("data");
  const engine = await readEngine(new Pack(bytesOf(data.textContent)));
  data.remove();
  answerFrom(engine);
  // For scripts and tests: what this page says of a question.
  globalThis.milepost = {
    search: (question, k = 5, chosen = null) => engine.search(question, k, chosen),
    read: (question) => engine.read(question),
    words: (text) => engine.words(text),
    operators: readOperators,
    places: (phrase, text) => occurrences(stripped(phrase), fold(new Points(text))),
    letters: (text) => Array.from(fold(new Points(text)).letters, (code) => String.fromCodePoint(code)).join(""),
  };
  startKeys();
  const listed = startLibrary();
  startSearch();
  startDocument();
  await listed;
} catch (error) {
  const problem = "DecompressionStream" in globalThis
    ? "This page is damaged: its data cannot be read. Ask for the file again."
    : "This browser is too old for this page. It needs Chrome 103, Edge 103, Firefox 113 or Safari 16.4, or later.";
  fill(byId("results"), el("div", { class: "problem", role: "alert" }, el("p", { text: problem }), el("p", { class: "aside", text: String(error) })));
  byId("results").setAttribute("aria-busy", "false");
}
