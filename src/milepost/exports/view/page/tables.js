// Rows of tables: what `table_rows.py` says of them.

const BAR = /(?:^| )\|(?= |$)/g;
const MARKDOWN_BAR = /(?<!\\)\|/g;
const FIGURE = /(?<!\S)(?:[$€£¥]\s?)?[(\-–—−]?(?:[$€£¥]\s?)?\d[\d.,]*(?:\s?[)%]{1,2})?(?!\S)|(?<!\S)[–—−-](?!\S)/gu;

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
  let at = Math.max(start, table.body);
  for (const line of at < end ? points.slice(at, Math.min(end, table.end)).split("\n") : []) {
    const behind = at + [...line].length;
    if (at < behind && spans.some((span) => span.start < behind && at < span.end)) {
      rows.push({ start: at, end: behind, cells: inColumns(cellsOf(line, table.unsplit.includes(at) ? 0 : table.columns.length - 1), table.columns) });
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

/** The cells of a row between bars without white space around them, or its label and figures. */
function cellsOf(row, count) {
  const line = row.trimEnd();
  const markdown = line.length > 1 && line.startsWith("|") && line.endsWith("|");
  const bars = [...line.matchAll(markdown ? MARKDOWN_BAR : BAR)].map(({ index, 0: bar }) => [index, index + bar.length]);
  const inside = markdown ? bars.slice(1, -1) : bars;
  const edges = [markdown ? 1 : 0, ...inside.flat(), markdown ? line.length - 1 : line.length];
  const cells = edges.flatMap((edge, number) => (number % 2 ? [] : [line.slice(edge, edges[number + 1]).trim()]));
  return cells.length > 1 ? cells : figureCells(row, count) ?? cells;
}

/** A label, which may end in a year, and the `count` figures behind it, as PDFs have rows; else null. */
function figureCells(row, count) {
  const figures = [];
  let end = row.trimEnd().length;
  for (const match of [...row.matchAll(FIGURE)].reverse()) {
    if (row.slice(match.index + match[0].length, end).trim()) break;
    figures.unshift(match);
    end = match.index;
  }
  if (count < 1 || figures.length < count) return null;
  const cells = figures.slice(-count);
  const label = row.slice(0, cells[0].index).trimEnd();
  const dated = figures.length === count || /(?:19|20)\d\d$/.test(label);
  return dated && /\p{L}/u.test(label) ? [label, ...cells.map(([text]) => text)] : null;
}

/** Put cells that stand after the names of their columns, as in sheets, into their columns. */
function inColumns(cells, columns) {
  const placed = new Array(Math.max(columns.length, cells.length)).fill("");
  let column = 0;
  for (const cell of cells) {
    const named = columns.findIndex((name) => name && cell.startsWith(`${name}: `));
    if (named >= 0) column = named;
    if (column < placed.length) placed[column] = named >= 0 ? cell.slice(columns[column].length + 2) : cell;
    column += 1;
  }
  return placed;
}
