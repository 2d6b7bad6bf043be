// Rows of tables: what `table_rows.py` says of them.

const BAR = /(?:^| )\|(?= |$)/g;
const MARKDOWN_BAR = /(?<!\\)\|/g;
const FIGURE = /(?<!\S)(?:[$€£¥]\s?)?[(\-–—−]?(?:[$€£¥]\s?)?\d[\d.,]*(?:\s?[)%]{1,2})?(?!\S)|(?<!\S)[–—−-](?!\S)/gu;

const MAX_KEY = 80; // characters of a first cell that is repeated
const MAX_ROW = 4_000; // characters on each side of a part of a row in which its other cells are looked for

/**
 * The rows of a table in a part of a document; null where it has none there.
 *
 * @param {object} document of the page
 * @param {number} start of the part
 * @param {number} end of the part
 * @param {object[]} spans sentences whose rows are wanted; the first one decides which table
 */
export function tableAt({ marks, points }, start, end, spans) {
  const table = tablesOf(marks).find((one) => one.start <= spans[0].start && spans[0].start < one.end);
  if (!table) return null;
  const rows = [];
  let at = Math.max(table.body, start - MAX_ROW);
  const stop = Math.min(end + MAX_ROW, table.end);
  for (const line of at < stop ? points.slice(at, stop).split("\n") : []) {
    const behind = at + [...line].length;
    const [low, high] = [Math.max(at, start), Math.min(behind, end)];
    if (low < high && spans.some((span) => span.start < high && low < span.end)) {
      const cells = cellsOf(line, table.unsplit.includes(at) ? 0 : table.columns.length - 1);
      const held = [low - at, high - at].map((offset) => [...line].slice(0, offset).join("").length);
      rows.push({ start: low, end: high, cells: within(line, inColumns(line, cells, table.columns), held) });
    }
    at = behind + 1;
  }
  return { caption: table.caption, columns: table.columns, rows };
}

function tablesOf(marks) {
  return marks.flatMap((mark, number) => {
    if (mark.kind !== "table") return [];
    const [length, header, ...unsplit] = mark.value.split(" ").map(Number);
    const named = (kind) => marks.slice(number + 1, number + 3).findLast((one) => one.kind === kind)?.value;
    return [{
      start: mark.offset,
      body: mark.offset + header,
      end: mark.offset + length,
      caption: named("caption") ?? null,
      columns: named("columns")?.split(" | ") ?? [],
      unsplit: unsplit.map((offset) => mark.offset + offset),
    }];
  });
}

/** The spans of the cells of a row between bars without white space around them, or of its label and figures. */
function cellsOf(row, count) {
  const line = row.trimEnd();
  const markdown = line.length > 1 && line.startsWith("|") && line.endsWith("|");
  const bars = [...line.matchAll(markdown ? MARKDOWN_BAR : BAR)].map(({ index, 0: bar }) => [index, index + bar.length]);
  const inside = markdown ? bars.slice(1, -1) : bars;
  const edges = [markdown ? 1 : 0, ...inside.flat(), markdown ? line.length - 1 : line.length];
  const cells = edges.flatMap((edge, number) => (number % 2 ? [] : [trimmed(line, edge, edges[number + 1])]));
  return cells.length > 1 ? cells : figureCells(row, count) ?? cells;
}

function trimmed(line, low, high) {
  const cell = line.slice(low, high);
  const start = low + cell.length - cell.trimStart().length;
  return [start, start + cell.trim().length];
}

/** A label, which may end in a year, and the `count` figures behind it, as PDFs have rows; else null. */
function figureCells(row, count) {
  const figures = [];
  let end = row.trimEnd().length;
  for (const match of [...row.matchAll(FIGURE)].reverse()) {
    if (row.slice(match.index + match[0].length, end).trim()) break;
    figures.unshift([match.index, match.index + match[0].length]);
    end = match.index;
  }
  if (count < 1 || figures.length < count) return null;
  const cells = figures.slice(-count);
  const label = row.slice(0, cells[0][0]).trimEnd();
  const dated = figures.length === count || /(?:19|20)\d\d$/.test(label);
  return dated && /\p{L}/u.test(label) ? [[0, label.length], ...cells] : null;
}

/** Put cells that stand after the names of their columns, as in sheets, into their columns. */
function inColumns(line, cells, columns) {
  const placed = new Array(Math.max(columns.length, cells.length)).fill([0, 0]);
  let column = 0;
  for (const [low, high] of cells) {
    const named = columns.findIndex((name) => name && line.slice(low, high).startsWith(`${name}: `));
    if (named >= 0) column = named;
    if (column < placed.length) placed[column] = [named >= 0 ? low + columns[column].length + 2 : low, high];
    column += 1;
  }
  return placed;
}

/** What a part of a row holds of its cells, and the first cell, which says what row it is. */
function within(line, cells, [start, end]) {
  const found = cells.map(([low, high]) => line.slice(Math.max(low, start), Math.max(low, Math.min(high, end))).trim());
  const first = line.slice(...cells[0]);
  if (!found[0] && [...first].length <= MAX_KEY) found[0] = first;
  return found;
}
