// The row of controls over an open document: pages, size, and the results.

import { byId } from "./dom.js";
import { results } from "./marks.js";
import { go } from "./state.js";
import { count, figure } from "./words.js";

const ZOOMS = [1, 1.25, 1.5, 2, 2.5, 3];

/** The controls; there is one row of them. */
export class Tools {
  /** @param {() => object | null} opened the document that is open: its id, place, sizes and view */
  constructor(opened) {
    this.opened = opened;
    const view = () => opened()?.view;
    const heard = (id, event, action) => byId(id).addEventListener(event, action);
    heard("previous-result", "click", () => this.step(-1));
    heard("next-result", "click", () => this.step(1));
    heard("previous-page", "click", () => view().showPage(view().current() - 1));
    heard("next-page", "click", () => view().showPage(view().current() + 1));
    heard("page-number", "change", (event) => this.toPage(event.target));
    heard("smaller", "click", () => this.zoom(-1));
    heard("larger", "click", () => this.zoom(1));
  }

  /** Show nothing, while there is no document that it would serve. */
  hide() {
    for (const id of ["view-choice", "page-tools", "result-tools", "document-actions"]) byId(id).hidden = true;
  }

  /** Show the controls of pages, or those of text. */
  choose(pages) {
    const { sizes } = this.opened();
    byId("document-actions").hidden = false;
    byId("view-choice").hidden = sizes === null;
    byId("page-tools").hidden = !pages;
    byId("page-number").max = sizes?.length ?? 1;
    this.limits();
    byId("page-total").textContent = sizes ? `of ${sizes.length}` : "";
    byId("as-pages").setAttribute("aria-pressed", String(pages));
    byId("as-text").setAttribute("aria-pressed", String(!pages));
  }

  /** Say which page is in the window. */
  moved(page) {
    const field = byId("page-number");
    if (page && document.activeElement !== field) field.value = page;
    byId("previous-page").disabled = Number(page) <= 1;
    byId("next-page").disabled = Number(page) >= (this.opened().sizes?.length ?? 1);
  }

  zoom(direction) {
    const { view } = this.opened();
    const next = ZOOMS.indexOf(view.zoom) + direction;
    if (ZOOMS[next] !== undefined) view.scaleTo(ZOOMS[next]);
    this.limits();
  }

  /** Say which sizes are left. */
  limits() {
    const at = ZOOMS.indexOf(this.opened().view.zoom);
    byId("smaller").disabled = at <= 0;
    byId("larger").disabled = at === ZOOMS.length - 1;
  }

  /** Go to the page that was typed; the field then says which it is. */
  toPage(field) {
    const { view } = this.opened();
    view.showPage(Number(field.value) || 1);
    field.value = view.current();
  }

  /** Say which of the results is open. */
  results() {
    const listed = results();
    const at = this.place(listed);
    byId("result-tools").hidden = !listed.length;
    byId("result-total").textContent = at === -1 ? count(listed.length, "result") : `Result ${figure(at + 1)} of ${figure(listed.length)}`;
    byId("previous-result").disabled = at <= 0;
    byId("next-result").disabled = at === listed.length - 1;
  }

  /** The place in the list of the result that is open; -1 where none is. */
  place(listed) {
    const { id, place } = this.opened();
    return listed.findIndex((one) => one.id === id && one.start <= place?.start && place?.start < one.end);
  }

  step(direction) {
    const listed = results();
    const next = listed[this.place(listed) + direction];
    if (!next) return;
    const { start, end } = next.hits[0];
    go({ open: { id: next.id, start, end } });
  }
}
