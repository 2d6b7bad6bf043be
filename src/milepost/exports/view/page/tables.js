// Rows of tables: what `table_rows.py` says of them.

const BAR = /(?:^| )\|(?= |$)/g;
const MARKDOWN_BAR = /(?<!\\)\|/g;

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
      rows.push({ start: at, end: behind, cells: inColumns(cellsOf(line), table.columns) });
    }
    at = behind + 1;
  }
  return { caption: table.caption, columns: table.columns, rows };
}

function tablesOf(marks) {
  return marks.flatMap((mark, number) => {
    if (mark.kind !== "table") return [];
    const [length, header] = mark.value.split(" ").map(Number);
    const named = (kind) => marks.slice(number + 1, number + 3).findLast((one) => one.kind === kind)?.value;
    return [{
      start: mark.offset,
      body: mark.offset + header,
      end: mark.offset + length,
      caption: named("caption") ?? null,
      columns: named("columns")?.split(" | ") ?? [],
    }];
  });
}

/** The cells of a row without white space around them. */
function cellsOf(row) {
  const line = row.trimEnd();
  const markdown = line.length > 1 && line.startsWith("|") && line.endsWith("|");
  const bars = [...line.matchAll(markdown ? MARKDOWN_BAR : BAR)].map(({ index, 0: bar }) => [index, index + bar.length]);
  const inside = markdown ? bars.slice(1, -1) : bars;
  const edges = [markdown ? 1 : 0, ...inside.flat(), markdown ? line.length - 1 : line.length];
  return edges.flatMap((edge, number) => (number % 2 ? [] : [line.slice(edge, edges[number + 1]).trim()]));
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
