// The data of the page: characters to bytes, and the sections in them (pack.py writes them).

const ALPHABET = Array.from({ length: 94 }, (_, number) => String.fromCharCode(33 + number))
  .filter((sign) => !"\"&<".includes(sign));

/** The bytes of characters: 13 bits in two of them. */
export function bytesOf(text) {
  const values = new Int16Array(128).fill(-1);
  ALPHABET.forEach((sign, number) => {
    values[sign.charCodeAt(0)] = number;
  });
  const bytes = new Uint8Array(Math.ceil((text.length * 13) / 16));
  let size = 0;
  let held = 0; // bits that are not written yet
  let count = 0;
  let first = -1;
  for (let at = 0; at < text.length; at += 1) {
    const value = values[text.charCodeAt(at)] ?? -1;
    if (value < 0) continue; // ends of lines
    if (first < 0) {
      first = value;
      continue;
    }
    held = (held << 13) | (first * 91 + value);
    first = -1;
    for (count += 13; count >= 8; ) {
      count -= 8;
      bytes[size] = held >> count;
      size += 1;
    }
    held &= (1 << count) - 1;
  }
  return bytes.subarray(0, size);
}

/** Sections by name. */
export class Pack {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    this.facts = header.facts;
    this.sections = header.sections;
    this.body = bytes.subarray(4 + length);
  }

  has(name) {
    return name in this.sections;
  }

  /** The bytes of a section, inflated. */
  async bytes(name) {
    const { at, bytes } = this.sections[name];
    const stream = new Blob([this.body.subarray(at, at + bytes)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  }

  /** A text. */
  async text(name) {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(await this.bytes(name));
  }

  /** What JSON says. */
  async json(name) {
    return JSON.parse(await this.text(name));
  }

  /** Numbers of a type: Float32Array and its like. */
  async numbers(name, Type) {
    const bytes = await this.bytes(name);
    return new Type(bytes.buffer, 0, bytes.length / Type.BYTES_PER_ELEMENT);
  }

  /** Whole numbers of seven bits to a byte. */
  async varints(name) {
    const bytes = await this.bytes(name);
    const values = new Uint32Array(bytes.reduce((total, byte) => total + (byte < 128), 0));
    let at = 0;
    let value = 0;
    let scale = 1;
    for (const byte of bytes) {
      value += (byte & 127) * scale;
      scale *= 128;
      if (byte > 127) continue;
      values[at] = value;
      at += 1;
      value = 0;
      scale = 1;
    }
    return values;
  }

  /** A table of bytes, row by row; the section has it column by column. */
  async table(name) {
    const held = await this.bytes(name);
    const { columns } = this.sections[name];
    const rows = held.length / columns;
    const table = new Uint8Array(held.length);
    for (let column = 0, from = 0; column < columns; column += 1, from += rows) {
      for (let row = 0; row < rows; row += 1) table[row * columns + column] = held[from + row];
    }
    return table;
  }
}
