// A document as text, in pieces that are loaded while one scrolls and dropped when they are far
// away: a book has a million characters, the page holds some hundred thousand of them.

import { getJson, isAborted } from "./api.js";
import { el, problemBox } from "./dom.js";
import { drawn, firstCut, lastCut } from "./piece.js";
import { Points } from "./points.js";

const PIECE = 12_000; // characters of one request
const HELD = 10; // pieces that stay in the page
const NEAR = 1.5; // heights of the window within which text is loaded ahead

/** A scrolling text with marks. */
export class TextView {
  /**
   * @param {HTMLElement} scroller holds the text and scrolls it
   * @param {{id: string, characters: number, name: string, marks: object[]}} document
   * @param {(offset: number) => void} onMove called with the offset at the top of the window
   */
  constructor(scroller, document, onMove) {
    this.scroller = scroller;
    this.document = document;
    this.onMove = onMove;
    this.pieces = []; // of { points, node }, in order, without gaps
    this.spans = []; // what is marked
    this.ending = new AbortController();
    this.box = el("div", { class: "text", dir: "auto" });
    scroller.replaceChildren(this.box);
    this.scrolled = () => this.follow();
    scroller.addEventListener("scroll", this.scrolled, { passive: true });
  }

  /** End loading. */
  close() {
    this.ending.abort();
    this.scroller.removeEventListener("scroll", this.scrolled);
  }

  /** Mark these spans, of { start, end, kind }, ascending, and no others. */
  mark(spans) {
    this.spans = spans;
    for (const piece of this.pieces) this.draw(piece);
  }

  /** Bring an offset into view; the text around it is loaded first. */
  async show(offset) {
    const at = Math.min(Math.max(0, offset), Math.max(0, this.document.characters - 1));
    if (!this.pieces.some(({ points }) => points.start <= at && at < points.end)) {
      const turn = (this.turn = Symbol("the jump that counts"));
      const piece = await this.load(at - PIECE / 3, at + PIECE, true, true);
      if (turn !== this.turn) return;
      this.pieces = [piece];
      this.box.replaceChildren(piece.node);
    }
    this.scrollTo(at);
    await this.fill();
    this.scrollTo(at); // what was loaded before it may have moved it
  }

  scrollTo(offset) {
    if (offset === 0 && this.pieces[0].points.start === 0) {
      this.scroller.scrollTop = 0;
      return;
    }
    const spot = this.range(offset)?.getBoundingClientRect();
    if (!spot) return;
    const frame = this.scroller.getBoundingClientRect();
    this.scroller.scrollTop += spot.top - frame.top - frame.height / 3;
  }

  /** The range of one character. */
  range(offset) {
    const piece = this.pieces.find(({ points }) => points.start <= offset && offset < points.end);
    if (!piece) return null;
    let left = piece.points.index(offset);
    const walker = document.createTreeWalker(piece.node, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (left < node.length) {
        const range = document.createRange();
        range.setStart(node, left);
        range.setEnd(node, Math.min(node.length, left + 1));
        return range;
      }
      left -= node.length;
    }
    return null;
  }

  /** The span that is selected in this text, or null. */
  selected() {
    const selection = getSelection();
    if (selection.isCollapsed || !selection.rangeCount) return null;
    const range = selection.getRangeAt(0);
    const start = this.offsetOf(range.startContainer, range.startOffset);
    const end = this.offsetOf(range.endContainer, range.endOffset);
    return start !== null && end !== null && start < end ? { start, end, text: selection.toString() } : null;
  }

  offsetOf(container, index) {
    const piece = this.pieces.find(({ node }) => node.contains(container));
    if (!piece) return null;
    const before = document.createRange();
    before.setStart(piece.node, 0);
    before.setEnd(container, index);
    return piece.points.offset(before.toString().length);
  }

  /**
   * A piece of the text. An edge that is loose is moved to the border of a paragraph; the other one
   * joins a piece that is there.
   */
  async load(start, end, looseStart, looseEnd) {
    const { id, characters } = this.document;
    const from = Math.max(0, Math.round(start));
    const to = Math.min(characters, Math.round(end));
    const part = await getJson(`documents/${id}/text?start=${from}&end=${to}`, this.ending.signal);
    const first = looseStart && from > 0 ? firstCut(part.text) : 0;
    const last = looseEnd && to < characters ? lastCut(part.text) : part.text.length;
    const points = new Points(part.text.slice(first, last), new Points(part.text, from).offset(first));
    const piece = { points, node: el("div") };
    this.draw(piece);
    return piece;
  }

  draw(piece) {
    piece.node.replaceChildren(...drawn(piece.points, this.spans, this.document.marks, this.document.name));
  }

  follow() {
    this.onMove(this.position());
    this.fill();
  }

  /** The offset at the top of the window, about. */
  position() {
    const top = this.scroller.scrollTop + this.scroller.clientHeight / 3;
    for (const { points, node } of this.pieces) {
      const inside = top - node.offsetTop;
      if (inside < node.offsetHeight) {
        const share = Math.max(0, inside) / Math.max(1, node.offsetHeight);
        return Math.round(points.start + share * (points.end - points.start));
      }
    }
    return this.pieces.at(-1)?.points.end ?? 0;
  }

  /** Load what is near the window, one piece at a time. */
  async fill() {
    if (this.filling) return;
    this.filling = true;
    try {
      while (await this.fillOnce());
    } catch (error) {
      if (!isAborted(error)) this.fail(error);
    } finally {
      this.filling = false;
    }
  }

  async fillOnce() {
    if (!this.pieces.length) return false;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const first = this.pieces[0];
    const last = this.pieces.at(-1);
    const ahead = NEAR * clientHeight;
    if (last.points.end < this.document.characters && scrollHeight - scrollTop - clientHeight < ahead) {
      const piece = await this.load(last.points.end, last.points.end + PIECE, false, true);
      if (this.pieces.at(-1) !== last) return true; // somebody jumped away meanwhile
      this.pieces.push(piece);
      this.box.append(piece.node);
      while (this.pieces.length > HELD) this.held(() => this.pieces.shift().node.remove());
      return true;
    }
    if (first.points.start > 0 && scrollTop < ahead) {
      const piece = await this.load(first.points.start - PIECE, first.points.start, true, false);
      if (this.pieces[0] !== first) return true;
      this.held(() => {
        this.pieces.unshift(piece);
        this.box.prepend(piece.node);
      });
      while (this.pieces.length > HELD) this.pieces.pop().node.remove();
      return true;
    }
    return false;
  }

  /** Change what is above the window without moving what is in it. */
  held(change) {
    const { scrollTop, scrollHeight } = this.scroller;
    change();
    this.scroller.scrollTop = scrollTop + this.scroller.scrollHeight - scrollHeight;
  }

  fail(error) {
    const problem = problemBox(error, () => {
      problem.remove();
      this.fill();
    });
    this.box.append(problem);
  }
}
