// The fields that filter documents by kind, author and date.

import { byId, el, fill } from "./dom.js";
import { authorsOf, filterOf, kindOf } from "./filter.js";
import { go, library, route } from "./state.js";

const FIELDS = ["kind", "author", "from", "until"];
const field = (name) => byId(`filter-${name}`);

/** Let the fields and the address follow each other. */
export function startFilters() {
  for (const name of FIELDS) {
    field(name).addEventListener("change", () => {
      if (field(name).reportValidity()) go({ filter: filterOf((each) => field(each).value) });
    });
  }
  route.listen((now, before) => {
    if (now.filter !== before.filter) show();
  });
  library.listen((now, before) => {
    if (now.documents !== before.documents) offer(now.documents);
  });
  show();
}

function show() {
  for (const name of FIELDS) field(name).value = route.value.filter[name];
  byId("filters").open ||= Object.values(route.value.filter).some(Boolean);
}

/** Offer what the documents have; a field in which they do not differ is of no use. */
function offer(documents) {
  const sorted = (values) => [...new Set(values)].filter(Boolean).sort((a, b) => a.localeCompare(b));
  const kinds = sorted([...documents.map(kindOf), route.value.filter.kind]);
  const authors = sorted(documents.flatMap(authorsOf));
  const useful = {
    kind: kinds.length > 1,
    author: authors.length > 0,
    date: documents.some(({ properties }) => properties?.date),
  };
  fill(field("kind"), el("option", { value: "", text: "any" }), kinds.map((kind) => el("option", { value: kind, text: kind })));
  fill(byId("authors"), authors.map((name) => el("option", { value: name })));
  for (const row of byId("filters").querySelectorAll("[data-filter]")) row.hidden = !useful[row.dataset.filter];
  byId("filters").hidden = documents.length < 2 || !Object.values(useful).some(Boolean);
  show();
}
