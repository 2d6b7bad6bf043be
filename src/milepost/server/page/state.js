// What the page knows, and who wants to hear of changes. The address bar holds what can be shared:
// the question, the documents chosen, and the place that is open.

import { NO_FILTER, filterOf } from "./filter.js";

/** A value that tells its listeners when it changes. */
class Store {
  constructor(value) {
    this.value = value;
    this.listeners = new Set();
  }

  /** Change some fields; listeners get the new value and the one before. */
  set(changes) {
    const before = this.value;
    this.value = { ...before, ...changes };
    for (const listener of this.listeners) listener(this.value, before);
  }

  listen(listener) {
    this.listeners.add(listener);
  }
}

/** Documents of the server, and what it can do. */
export const library = new Store({
  status: "loading", // loading, ready, failed
  documents: [],
  ready: null, // what GET /ready says
  missing: "", // what is not read yet, in words
  error: null,
});

/** The last answer; while another one is awaited its status is "loading". */
export const answer = new Store({
  status: "none", // none, loading, done, failed
  question: "", // what was asked
  data: null, // what POST /search says, sentences without white space at their edges
  probable: false, // whether anything of it is worth marking
  weak: false, // whether results that are probably no answer are to be seen all the same
  error: null,
});

const NOWHERE = { question: "", chosen: [], filter: NO_FILTER, open: null };

/** Where the page is: what the address says. */
export const route = new Store(parse(location.hash));

/**
 * A fragment as a route.
 *
 * `#q=who&in=ID&in=ID&kind=pdf&author=Lee&from=2023&until=2024-03&id=ID&start=10&end=20`; what makes
 * no sense is left out.
 */
export function parse(fragment) {
  const fields = new URLSearchParams(fragment.replace(/^#/, ""));
  const id = fields.get("id");
  const start = offset(fields.get("start"));
  const end = offset(fields.get("end"));
  return {
    question: (fields.get("q") ?? "").trim().slice(0, 10_000),
    chosen: [...new Set(fields.getAll("in").filter(Boolean))],
    filter: filterOf((name) => fields.get(name) ?? ""),
    open: id ? { id, start, end: start !== null && end !== null && end > start ? end : null } : null,
  };
}

function offset(text) {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** The fragment of a route. */
export function format({ question, chosen, filter, open }) {
  const fields = new URLSearchParams();
  if (open) {
    fields.set("id", open.id);
    if (open.start !== null && open.start !== undefined) fields.set("start", open.start);
    if (open.end !== null && open.end !== undefined) fields.set("end", open.end);
  }
  if (question) fields.set("q", question);
  for (const id of chosen) fields.append("in", id);
  for (const [name, value] of Object.entries(filter)) if (value) fields.set(name, value);
  return `#${fields}`;
}

/** The fragment that opens a place, with everything else as it is. */
export function placeOf(id, start = null, end = null) {
  return format({ ...route.value, open: { id, start, end } });
}

/** Go somewhere; `replace` leaves no step to come back to. */
export function go(changes, { replace = false } = {}) {
  const next = { ...NOWHERE, ...route.value, ...changes };
  const fragment = format(next);
  if (fragment === format(route.value)) return;
  history[replace ? "replaceState" : "pushState"](null, "", fragment === "#" ? location.pathname : fragment);
  route.set(next);
}

function moved() {
  const next = parse(location.hash);
  if (format(next) !== format(route.value)) route.set(next);
}

window.addEventListener("popstate", moved);
window.addEventListener("hashchange", moved);
