// The pages of a PDF as pictures, one below the other, with boxes over the marked sentences, and their
// text, transparent, which can be selected and found. Pictures are loaded while they are near the window
// and dropped when they are far away; texts stay.

import { getBlob, getJson, isAborted } from "./api.js";
import { el, problemBox } from "./dom.js";
import { PageText } from "./page-text.js";
import { leading, reflowed } from "./points.js";

const SETTLED = 120; // milliseconds that a page has to stay near before its picture is asked for
const GAP = 8; // pixels that stay above a page
const FOUND = 100; // pages from the first whose text is loaded unseen
const FINEST = 4; // pixels a point that the server draws at most

/** A scrolling column of pages. */
export class PdfView {
  /**
   * @param {HTMLElement} scroller holds the pages and scrolls them
   * @param {{id: string, name: string, characters: number, sentences: number}} document
   * @param {{page: number, width: number, height: number}[]} sizes of all pages in points
   * @param {(page: number) => void} onMove called with the page at the top of the window
   */
  constructor(scroller, document, sizes, onMove) {
    this.scroller = scroller;
    this.document = document;
    this.onMove = onMove;
    this.ending = new AbortController();
    this.zoom = 1;
    this.pages = sizes.map((size) => this.frame(size));
    this.column = el("div", { class: "pages" }, this.pages.map(({ node }) => node));
    scroller.replaceChildren(this.column);
    this.watcher = new IntersectionObserver((entries) => this.crossed(entries), { root: scroller, rootMargin: "60% 0px" });
    for (const { node } of this.pages) this.watcher.observe(node);
    this.scrolled = () => onMove(this.current());
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
    this.column.addEventListener("copy", (event) => this.copied(event));
  }

  frame({ page, width, height }) {
    const picture = el("img", { alt: `Page ${page} of ${this.document.name}`, hidden: true });
    const boxes = el("div", { class: "boxes", "aria-hidden": "true" });
    const text = new PageText(page, width, height);
    const trouble = el("div", { class: "trouble" });
    const node = el("div", { class: "page", data: { page } }, picture, boxes, text.node, trouble);
    node.style.aspectRatio = `${width} / ${height}`;
    return { page, width, height, node, picture, boxes, text, trouble, timer: null, loading: null, scale: 0 };
  }

  /** End loading, and let go of the pictures. */
  close() {
    this.ending.abort();
    this.watcher.disconnect();
    this.scroller.removeEventListener("scroll", this.scrolled);
    for (const page of this.pages) this.drop(page);
  }

  crossed(entries) {
    for (const { target, isIntersecting } of entries) {
      const page = this.pages[target.dataset.page - 1];
      page.near = isIntersecting;
      clearTimeout(page.timer);
      if (isIntersecting) page.timer = setTimeout(() => this.load(page), SETTLED);
      else this.drop(page);
    }
  }

  async load(page) {
    const pixels = page.node.clientWidth * devicePixelRatio;
    const scale = Math.min(FINEST, Math.max(0.5, Math.ceil((4 * pixels) / page.width) / 4));
    if (scale === page.scale) return;
    page.loading?.abort();
    const loading = (page.loading = new AbortController());
    page.scale = scale;
    page.trouble.replaceChildren();
    try {
      const { id, characters, sentences } = this.document;
      // A picture is cached for some minutes; that of a document that was replaced must not be shown.
      const version = `${characters}-${sentences}`;
      const path = `documents/${id}/pages/${page.page}.png?scale=${scale}&version=${version}`;
      const blob = await getBlob(path, loading.signal);
      if (loading.signal.aborted) return;
      const old = page.picture.src;
      page.picture.src = URL.createObjectURL(blob);
      page.picture.hidden = false;
      if (old) URL.revokeObjectURL(old);
      this.readText(page);
      this.reading ??= this.readTexts();
    } catch (error) {
      if (isAborted(error)) return;
      page.scale = 0; // it is tried again when it comes near again
      page.trouble.replaceChildren(problemBox(error, () => this.load(page)));
    }
  }

  /** Load the text of a page; without it, the page can be read all the same. */
  readText({ text }) {
    return text.load(`documents/${this.document.id}`, this.ending.signal).catch(() => null);
  }

  /** Load the texts of other pages, one at a time, so that they are found before they are seen. */
  async readTexts() {
    for (const page of this.pages.slice(0, FOUND)) if (!this.ending.signal.aborted) await this.readText(page);
  }

  drop(page) {
    clearTimeout(page.timer);
    page.loading?.abort();
    page.scale = 0;
    if (page.picture.src) URL.revokeObjectURL(page.picture.src);
    page.picture.removeAttribute("src");
    page.picture.hidden = true;
  }

  /**
   * Mark these spans, of { start, end, kind }, and no others.
   *
   * @param {(pages: number[]) => void} onFirst called when the first span is marked, with the
   *   pages on which it is printed
   */
  async mark(spans, onFirst) {
    const turn = (this.turn = Symbol("the marks that count"));
    for (const { boxes } of this.pages) boxes.replaceChildren();
    this.first = null;
    for (const [number, span] of spans.entries()) {
      const path = `documents/${this.document.id}/boxes?start=${span.start}&end=${span.end}`;
      const { boxes } = await getJson(path, this.ending.signal);
      if (turn !== this.turn) return;
      for (const box of boxes) this.put(box, span.kind);
      if (number > 0) continue;
      this.first = boxes[0] ?? null;
      onFirst([...new Set(boxes.map(({ page }) => page))]);
    }
  }

  put({ page, left, top, right, bottom }, kind) {
    const { width, height, boxes } = this.pages[page - 1];
    const box = el("span", { class: kind });
    const share = (value, whole) => `${(100 * value) / whole}%`;
    box.style.left = share(left, width);
    box.style.top = share(top, height);
    box.style.width = share(right - left, width);
    box.style.height = share(bottom - top, height);
    boxes.append(box);
  }

  /** The span that is selected, or null. */
  selected() {
    const selection = getSelection();
    if (selection.isCollapsed || !this.column.contains(selection.anchorNode)) return null;
    const ranges = this.texts().map((text) => text.selected(selection)).filter(Boolean);
    return ranges.length ? { start: ranges[0].start, end: ranges.at(-1).end } : null;
  }

  texts() {
    return this.pages.map(({ text }) => text).filter(({ points }) => points);
  }

  /** What is copied is the document's text: its lines are joined, its broken words whole. */
  copied(event) {
    const chosen = this.selected();
    if (!chosen) return;
    const parts = this.texts().map(({ points }) => points.slice(chosen.start, chosen.end));
    event.clipboardData.setData("text/plain", reflowed(parts.join(""), this.document.name));
    event.preventDefault();
  }

  /** Bring a page to the top of the window; the promise ends when its picture is there. */
  showPage(number) {
    const page = this.pages[Math.min(Math.max(1, number), this.pages.length) - 1];
    this.scrollTo(page.node.offsetTop - GAP, page.page);
    this.scrolled(); // no event comes where nothing had to move
    return this.load(page);
  }

  /** Bring the first marked box into view. */
  showFirst() {
    if (!this.first) return;
    const { node, height } = this.pages[this.first.page - 1];
    const top = node.offsetTop + (node.clientHeight * this.first.top) / height;
    this.scrollTo(top - this.scroller.clientHeight / 3, this.first.page);
  }

  /** Scroll to a page; one near the end may stay below the middle, and is the current one all the same. */
  scrollTo(top, number) {
    this.scroller.scrollTop = top;
    this.reached = { number, scrollTop: this.scroller.scrollTop };
  }

  /** Number of the page that was gone to last, else of that at a third of the window's height. */
  current() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    if (this.reached?.scrollTop === scrollTop) return this.reached.number;
    this.reached = null;
    if (scrollTop > 0 && scrollTop + clientHeight >= scrollHeight - 1) return this.pages.length;
    const at = scrollTop + clientHeight / 3;
    return Math.max(1, leading(this.pages.length, (number) => this.pages[number].node.offsetTop <= at));
  }

  /** Show pages larger or smaller; what is in the middle of the window stays there. */
  scaleTo(zoom) {
    const { scrollTop, scrollHeight, clientHeight, scrollWidth, clientWidth, scrollLeft } = this.scroller;
    const down = (scrollTop + clientHeight / 2) / scrollHeight;
    const across = (scrollLeft + clientWidth / 2) / scrollWidth;
    this.zoom = zoom;
    this.column.style.inlineSize = `${100 * zoom}%`;
    this.scroller.scrollTop = down * this.scroller.scrollHeight - clientHeight / 2;
    this.scroller.scrollLeft = across * this.scroller.scrollWidth - clientWidth / 2;
    for (const page of this.pages) if (page.near) this.load(page);
  }
}
