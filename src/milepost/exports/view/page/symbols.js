// Symbols from their code (rANS; coding.py writes it).

const BITS = 14;
const MASK = (1 << BITS) - 1;
const LOWEST = 65536;

/**
 * The symbols of a table, row by row.
 *
 * @param {Uint8Array} coded states of the lanes, then words
 * @param {{rows: number, columns: number, lanes: number}} shape
 * @param {Uint8Array} classes which frequencies hold in each column, one group behind the other
 * @param {Uint16Array} frequencies 256 for each class
 * @param {(row: number) => number} groupOf the group of a row
 */
export function decoded(coded, { rows, columns, lanes }, classes, frequencies, groupOf) {
  const view = new DataView(coded.buffer, coded.byteOffset, coded.byteLength);
  const states = new Float64Array(lanes);
  for (let lane = 0; lane < lanes; lane += 1) states[lane] = view.getUint32(4 * lane, true);
  const { symbolAt, starts } = tables(frequencies);
  const symbols = new Uint8Array(rows * columns);
  let word = 4 * lanes;
  let at = 0;
  for (let row = 0; row < rows; row += 1) {
    const group = groupOf(row) * columns;
    for (let column = 0; column < columns; column += 1, at += 1) {
      const kind = classes[group + column];
      const lane = at % lanes;
      const state = states[lane];
      const place = state % LOWEST & MASK;
      const symbol = symbolAt[(kind << BITS) + place];
      const key = (kind << 8) + symbol;
      let next = frequencies[key] * Math.floor(state / (MASK + 1)) + place - starts[key];
      if (next < LOWEST) {
        next = next * LOWEST + view.getUint16(word, true);
        word += 2;
      }
      states[lane] = next;
      symbols[at] = symbol;
    }
  }
  return symbols;
}

/** For each place among the frequencies its symbol, and where each symbol begins. */
function tables(frequencies) {
  const classes = frequencies.length / 256;
  const symbolAt = new Uint8Array(classes << BITS);
  const starts = new Uint16Array(frequencies.length);
  for (let kind = 0; kind < classes; kind += 1) {
    let at = 0;
    for (let symbol = 0; symbol < 256; symbol += 1) {
      const share = frequencies[(kind << 8) + symbol];
      starts[(kind << 8) + symbol] = at;
      symbolAt.fill(symbol, (kind << BITS) + at, (kind << BITS) + at + share);
      at += share;
    }
  }
  return { symbolAt, starts };
}
