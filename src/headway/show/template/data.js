// The document as numbers: maps of weights, averaged over heads, joined to words.

const PARTS = 65535;

const TITLES = {
  encoder: "Encoder self-attention",
  decoder: "Decoder self-attention",
  cross: "Cross-attention",
};

const READINGS = {
  encoder: "Every piece of the source looks at every piece of the source.",
  decoder: "Every piece of the target looks at itself and at what was written before it.",
  cross: "A row is the step that writes this piece; it looks at the source.",
};

const JOINED = "The queries of a word are averaged, its keys are summed.";

/** Weights in base64, little-endian 16-bit parts of a row, as numbers from 0 to 1. */
function decodeWeights(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 2 }, (_, i) => view.getUint16(2 * i, true) / PARTS);
}

/** The kinds of attention of a document, each with its sequences and its maps by layer and head. */
function readKinds(data) {
  return Object.entries(data.maps).map(([name, maps]) => {
    const queries = data.sequences[maps.queries];
    const keys = data.sequences[maps.keys];
    const rows = queries.pieces.length;
    const columns = keys.pieces.length;
    const weights = decodeWeights(maps.weights);
    const at = (layer, head) => {
      const start = (layer * maps.heads + head) * rows * columns;
      return { rows, columns, weights: weights.subarray(start, start + rows * columns) };
    };
    return {
      name,
      title: TITLES[name],
      reading: READINGS[name],
      layers: maps.layers,
      heads: maps.heads,
      queries,
      keys,
      querySide: maps.queries === "source" ? "source" : "target",
      keySide: maps.keys === "source" ? "source" : "target",
      isSelf: maps.queries === maps.keys,
      at,
    };
  });
}

/** The mean of maps of one size. */
function averageMaps(maps) {
  const { rows, columns } = maps[0];
  const weights = new Float32Array(rows * columns);
  for (const map of maps) {
    for (let i = 0; i < weights.length; i++) weights[i] += map.weights[i] / maps.length;
  }
  return { rows, columns, weights };
}

/** Words in place of pieces: the queries of a word are averaged, its keys are summed, so that rows still sum to 1. */
function joinWords(map, queryWords, keyWords) {
  const rows = queryWords[queryWords.length - 1] + 1;
  const columns = keyWords[keyWords.length - 1] + 1;
  const weights = new Float32Array(rows * columns);
  const sizes = new Array(rows).fill(0);
  for (const word of queryWords) sizes[word] += 1;
  for (let q = 0; q < map.rows; q++) {
    for (let k = 0; k < map.columns; k++) {
      weights[queryWords[q] * columns + keyWords[k]] += map.weights[q * map.columns + k] / sizes[queryWords[q]];
    }
  }
  return { rows, columns, weights };
}

/** What to write for the units of a sequence, and whether each stands apart from the one before it. */
function unitsOf(sequence, joined) {
  const unit = (text) => ({ text: visible(text), isSpaced: /^\s|^<\/?s>$/.test(text) });
  if (!joined) return sequence.pieces.map(unit);
  const words = [];
  sequence.pieces.forEach((piece, i) => {
    words[sequence.words[i]] = (words[sequence.words[i]] ?? "") + piece;
  });
  return words.map(unit);
}

/** A piece without the space before it; what cannot be seen is shown as a sign. */
function visible(piece) {
  return piece.trim() || piece.replace(/\n/g, "⏎").replace(/\s/g, "␣") || "∅";
}

/** The largest entries of a list of weights, each with its place, at most `count`, none below `least`. */
function largest(weights, count, least = 0.005) {
  return weights
    .map((weight, place) => ({ weight, place }))
    .filter((entry) => entry.weight >= least)
    .sort((a, b) => b.weight - a.weight)
    .slice(0, count);
}

/** The weights of one query. */
function rowOf(map, row) {
  return Array.from(map.weights.subarray(row * map.columns, (row + 1) * map.columns));
}

/** The weights that one key gets from each query. */
function columnOf(map, column) {
  return Array.from({ length: map.rows }, (_, row) => map.weights[row * map.columns + column]);
}

/** Mean of the largest weight of a row, and mean entropy of a row in bits. */
function factsOf(map) {
  let confidence = 0;
  let entropy = 0;
  for (let row = 0; row < map.rows; row++) {
    const weights = rowOf(map, row);
    confidence += Math.max(...weights) / map.rows;
    for (const weight of weights) entropy -= weight > 0 ? (weight * Math.log2(weight)) / map.rows : 0;
  }
  return { confidence, entropy };
}
