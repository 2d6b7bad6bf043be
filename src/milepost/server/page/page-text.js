// The text of one page of a PDF: a transparent line over each printed one, as wide as that.

import { getJson } from "./api.js";
import { el } from "./dom.js";
import { Points } from "./points.js";

const FAMILY = "sans-serif";
const SIZE = 100; // pixels of the font in which lines are measured

const pen = document.createElement("canvas").getContext("2d");

/** Width of a text in heights of its font. */
function measured(text) {
  pen.font = `${SIZE}px ${FAMILY}`;
  return pen.measureText(text).width / SIZE;
}

/** The layer over a page; it is empty until it is loaded. */
export class PageText {
  constructor(page, width, height) {
    Object.assign(this, { page, width, height, points: null });
    this.node = el("div", { class: "words", dir: "auto" });
    this.node.style.fontFamily = FAMILY;
  }

  /** Load the text, once. */
  load(document, signal) {
    this.loading ??= this.fetched(document, signal).catch((error) => {
      this.loading = null;
      throw error;
    });
    return this.loading;
  }

  async fetched(document, signal) {
    const { start, text, lines } = await getJson(`${document}/pages/${this.page}/lines`, signal);
    this.points = new Points(text, start);
    this.node.replaceChildren(...lines.map((line) => this.line(line)));
  }

  /** A line; its sizes are shares of the page's, so that it grows with the page. */
  line({ start, end, left, top, right, bottom }) {
    const text = this.points.slice(start, end).trimEnd();
    const tall = bottom - top > 2 * (right - left) && text.length > 2; // it is printed upwards or downwards
    const [long, high] = tall ? [bottom - top, right - left] : [right - left, bottom - top];
    const node = el("span", { text, data: { start } });
    node.style.left = `${(100 * (tall ? right : left)) / this.width}%`;
    node.style.top = `${(100 * top) / this.height}%`;
    node.style.fontSize = `${(100 * high) / this.width}cqw`;
    // Not scaled: a browser that looks for the letter beside the pointer does not see transforms.
    node.style.letterSpacing = `${(long / high - measured(text)) / Math.max(1, [...text].length)}em`;
    if (tall) node.style.transform = "rotate(90deg)";
    return node;
  }

  /** The part of a selection that is on this page, as offsets, or null. */
  selected(selection) {
    const lines = [...this.node.children].filter((line) => selection.containsNode(line, true));
    if (!lines.length) return null;
    const range = selection.getRangeAt(0);
    return { start: this.offset(lines[0], range, "start"), end: this.offset(lines.at(-1), range, "end") };
  }

  /** Where a selection begins or ends in a line: at an edge of the line, if it goes on elsewhere. */
  offset(line, range, side) {
    const start = this.points.index(Number(line.dataset.start));
    const text = line.firstChild;
    if (range[`${side}Container`] === text) return this.points.offset(start + range[`${side}Offset`]);
    return this.points.offset(start + (side === "end" ? text.length : 0));
  }
}
