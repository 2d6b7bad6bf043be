// The strip over an open document: its whole length in 64 parts, as high as the best match in each.
// It is one slider: a click or an arrow key goes to a part.

import { byId, el, fill } from "./dom.js";

const CELLS = 64;
const HEIGHTS = [6, 12, 22, 36, 52, 68, 84, 100]; // percent of the strip, from no match to a strong one
const LEVELS = HEIGHTS.length;
const WORDS = ["no match", "no match", "weak match", "weak match", "fair match", "fair match", "strong match", "strong match"];
const RESTED = 250; // milliseconds after the last key before the document follows
const KEPT = 1000; // milliseconds in which a part stays chosen, though its sentence began before it

/** The strip; there is one in the page. */
export class HeatStrip {
  /** @param {(cell: number) => void} onChoose called with the part that was chosen, from 0 */
  constructor(onChoose) {
    this.node = byId("heat");
    this.onChoose = onChoose;
    this.cell = 0;
    this.heat = null;
    this.until = 0;
    this.node.addEventListener("click", (event) => {
      const { left, width } = this.node.getBoundingClientRect();
      this.choose(Math.floor(((event.clientX - left) / width) * CELLS), 0);
    });
    this.node.addEventListener("keydown", (event) => {
      const steps = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 8, PageDown: -8, Home: -CELLS, End: CELLS };
      const step = steps[event.key];
      if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
      event.preventDefault();
      this.choose(this.cell + step, RESTED);
    });
  }

  /**
   * Draw the strip.
   *
   * @param {number[] | null} heat best score of each part, 0 to 1; null without a question
   * @param {number[]} places of the passages, 0 to 1
   */
  draw(heat, places) {
    this.heat = heat;
    const cells = Array.from({ length: CELLS }, (_, number) => {
      const level = heat ? this.level(number) : 0;
      const cell = el("span");
      cell.style.blockSize = `${HEIGHTS[level]}%`;
      cell.style.opacity = 0.35 + (0.65 * level) / LEVELS;
      cell.style.left = `${(100 * number) / CELLS}%`;
      return cell;
    });
    const dots = places.map((place) => {
      const dot = el("i");
      dot.style.left = `${100 * place}%`;
      return dot;
    });
    this.here = el("b");
    fill(this.node, cells, dots, this.here);
    this.node.classList.toggle("cold", !heat);
    this.say();
  }

  level(cell) {
    return Math.min(LEVELS - 1, Math.floor(LEVELS * (this.heat?.[cell] ?? 0)));
  }

  /** Show where the window is, from 0 to 1. */
  move(share) {
    const place = Math.min(1, Math.max(0, share));
    if (performance.now() < this.until) return;
    this.cell = Math.min(CELLS - 1, Math.floor(CELLS * place));
    if (this.here) this.here.style.left = `${100 * place}%`;
    this.say();
  }

  choose(cell, delay) {
    this.cell = Math.min(CELLS - 1, Math.max(0, cell));
    if (this.here) this.here.style.left = `${(100 * (this.cell + 0.5)) / CELLS}%`;
    this.say();
    clearTimeout(this.timer);
    this.until = performance.now() + delay + KEPT;
    this.timer = setTimeout(() => this.onChoose(this.cell), delay);
  }

  say() {
    const match = this.heat ? `, ${WORDS[this.level(this.cell)]}` : "";
    this.node.setAttribute("aria-valuenow", String(this.cell + 1));
    this.node.setAttribute("aria-valuetext", `part ${this.cell + 1} of ${CELLS}${match}`);
  }
}
