// The light model: tokens of one sentence to its vector (network.py is the same in Python).

/** The network of a pack. */
export async function readNetwork(pack) {
  const { blocks, epsilon } = pack.facts.model;
  const matrices = { lift: await matrix(pack, "lift"), project: await matrix(pack, "project") };
  for (let block = 0; block < blocks; block += 1) {
    for (const name of [`enter ${block}`, `leave ${block}`]) matrices[name] = await matrix(pack, name);
  }
  return new Network({
    codes: new Int8Array((await pack.table("table")).buffer),
    scales: await pack.numbers("table scales", Float32Array),
    width: pack.sections.table.columns,
    matrices,
    vectors: await vectors(pack),
    blocks,
    epsilon,
  });
}

async function matrix(pack, name) {
  const table = await pack.table(name);
  if (pack.has(`${name} palette`)) {
    const palette = await pack.numbers(`${name} palette`, Float32Array);
    return Float32Array.from(table, (place) => palette[place]);
  }
  const bits = Uint32Array.from(new Uint16Array(table.buffer), (half) => half * 65536);
  return new Float32Array(bits.buffer);
}

async function vectors(pack) {
  const numbers = await pack.numbers("vectors", Float32Array);
  const found = {};
  let at = 0;
  for (const [name, size] of Object.entries(pack.facts.vectors)) {
    found[name] = numbers.subarray(at, at + size);
    at += size;
  }
  return found;
}

class Network {
  constructor(parts) {
    Object.assign(this, parts);
  }

  /** The vector of a sentence, of unit length; its tokens include the landmark. */
  encode(ids) {
    let state = this.linear("lift", this.norm("norm", this.sum(ids)));
    for (let block = 0; block < this.blocks; block += 1) {
      const both = this.linear(`enter ${block}`, this.norm(`norm ${block}`, state));
      const half = both.length / 2;
      const mix = this.vectors[`mix ${block}`];
      const mixed = Float64Array.from(mix, (weight, at) => {
        const gate = both[half + at];
        return (both[at] * weight * gate) / (1 + Math.exp(-gate));
      });
      const added = this.linear(`leave ${block}`, mixed);
      state = state.map((value, at) => value + added[at]);
    }
    const found = this.linear("project", this.norm("last", state));
    const length = Math.max(Math.hypot(...found), 1e-12);
    return Float32Array.from(found, (value) => value / length);
  }

  sum(ids) {
    const total = new Float64Array(this.width);
    for (const id of ids) {
      const from = id * this.width;
      const scale = this.scales[id];
      for (let at = 0; at < this.width; at += 1) total[at] += this.codes[from + at] * scale;
    }
    return total;
  }

  linear(name, state) {
    const weights = this.matrices[name];
    const width = state.length;
    return Float64Array.from(this.vectors[name], (offset, row) => {
      let total = offset;
      for (let at = 0, from = row * width; at < width; at += 1) total += weights[from + at] * state[at];
      return total;
    });
  }

  norm(name, state) {
    const numbers = this.vectors[name];
    const size = state.length;
    const mean = state.reduce((total, value) => total + value, 0) / size;
    const spread = state.reduce((total, value) => total + (value - mean) ** 2, 0) / size;
    const scale = 1 / Math.sqrt(spread + this.epsilon);
    return state.map((value, at) => (value - mean) * scale * numbers[at] + numbers[size + at]);
  }
}
