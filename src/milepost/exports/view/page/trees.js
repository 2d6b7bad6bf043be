// Boosted trees: their sum is a log-odds (trees.py).

const LEAF = 255;

/** The trees of a pack. */
export async function readTrees(pack) {
  const features = await pack.bytes("tree features");
  const children = await pack.bytes("tree children");
  const levels = await pack.numbers("tree levels", Float32Array);
  const which = await pack.numbers("tree thresholds", Uint16Array);
  const leaves = await pack.numbers("tree values", Float32Array);
  const left = new Uint32Array(features.length);
  const right = new Uint32Array(features.length);
  const value = new Float32Array(features.length); // the threshold of a node, the share of a leaf
  let inner = 0;
  features.forEach((feature, at) => {
    if (feature === LEAF) {
      value[at] = leaves[at - inner];
      return;
    }
    left[at] = at + children[2 * inner];
    right[at] = at + children[2 * inner + 1];
    value[at] = levels[which[inner]];
    inner += 1;
  });
  return new Trees(await pack.numbers("tree roots", Int32Array), features, left, right, value);
}

class Trees {
  constructor(roots, features, left, right, value) {
    Object.assign(this, { roots, features, left, right, value });
  }

  /** The sum for each row of some columns. */
  predict(columns) {
    const { features, left, right, value } = this;
    const total = new Float64Array(columns[0].length);
    for (const root of this.roots) {
      for (let row = 0; row < total.length; row += 1) {
        let at = root;
        while (features[at] !== LEAF) at = columns[features[at]][row] <= value[at] ? left[at] : right[at];
        total[row] += value[at];
      }
    }
    return Float32Array.from(total);
  }
}
