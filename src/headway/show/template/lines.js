// The line view: queries on the left, keys on the right, a line for every weight worth drawing.

const SVG = "http://www.w3.org/2000/svg";
const FAINTEST_LINE = 0.015;
const WIDTH = 420;

/** An element of a drawing. */
function svgElement(name, attributes, text = "") {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.textContent = text;
  return element;
}

/** Where the units of both sides stand; the shorter side is spread over the height of the longer. */
function lineLayout(view) {
  const longest = Math.max(view.map.rows, view.map.columns);
  const step = longest > 45 ? 15 : longest > 28 ? 18 : 24;
  const height = longest * step + 8;
  const places = (count) => Array.from({ length: count }, (_, i) => 4 + ((i + 0.5) * (height - 8)) / count);
  const letters = (units) => Math.max(...units.map((unit) => Math.min(unit.text.length, LONGEST_LABEL)));
  const size = step > 20 ? 13 : step > 16 ? 12 : 11;
  const margin = (units) => letters(units) * size * 0.6 + 46;
  return {
    height,
    size,
    step,
    left: margin(view.queries),
    right: WIDTH - margin(view.keys),
    queries: places(view.map.rows),
    keys: places(view.map.columns),
  };
}

/** Draw the lines, those of what is pointed at strongly and the rest faintly. */
function drawLines(figure, view, pointed) {
  const layout = lineLayout(view);
  const svg = svgElement("svg", { viewBox: `0 0 ${WIDTH} ${layout.height}`, "font-size": layout.size });
  svg.append(...linesOf(view, layout, pointed));
  svg.append(...view.queries.map((unit, i) => tokenOf(unit, "query", i, view, layout, pointed)));
  svg.append(...view.keys.map((unit, i) => tokenOf(unit, "key", i, view, layout, pointed)));
  figure.replaceChildren(svg);
}

function linesOf(view, layout, pointed) {
  const drawn = [];
  view.map.weights.forEach((weight, i) => {
    if (weight < FAINTEST_LINE) return;
    const query = Math.floor(i / view.map.columns);
    const key = i % view.map.columns;
    const strength = strengthOf(query, key, pointed);
    const [y, z] = [layout.queries[query], layout.keys[key]];
    const middle = (layout.left + layout.right) / 2;
    drawn.push(
      svgElement("path", {
        d: `M${layout.left} ${y}C${middle} ${y} ${middle} ${z} ${layout.right} ${z}`,
        class: strength.isIncoming ? "line incoming" : "line",
        "stroke-width": (0.6 + 3.4 * weight).toFixed(2),
        "stroke-opacity": (strength.factor * (0.08 + 0.92 * weight)).toFixed(3),
      }),
    );
  });
  return drawn;
}

/** How strongly the line of a query and a key is drawn, and whether as one that comes in. */
function strengthOf(query, key, pointed) {
  if (!pointed) return { factor: 1, isIncoming: false };
  const isOut = pointed.query === query;
  const isIn = pointed.key === key;
  const isShown = pointed.isCell ? isOut && isIn : isOut || isIn;
  return { factor: isShown ? 1 : 0.1, isIncoming: isIn && !isOut };
}

/** A token with its weight from or to what is pointed at. */
function tokenOf(unit, side, place, view, layout, pointed) {
  const isQuery = side === "query";
  const weight = weightBeside(side, place, view.map, pointed);
  const y = layout[isQuery ? "queries" : "keys"][place];
  const x = isQuery ? layout.left - 8 : layout.right + 8;
  const group = svgElement("g", { class: `token ${isQuery ? "incoming" : ""}`, "data-side": side, "data-place": place });
  const start = isQuery ? 0 : layout.right;
  const width = isQuery ? layout.left : WIDTH - layout.right;
  const box = { x: start, y: y - layout.step / 2, width, height: layout.step, rx: 3 };
  group.append(svgElement("rect", { ...box, class: "shade", "fill-opacity": (0.45 * (weight ?? 0)).toFixed(3) }));
  const text = unit.text.length > LONGEST_LABEL ? `${unit.text.slice(0, LONGEST_LABEL - 1)}…` : unit.text;
  const anchor = isQuery ? "end" : "start";
  group.append(svgElement("text", { x, y, "text-anchor": anchor, "dominant-baseline": "central" }, text));
  if (weight !== null && weight >= 0.005) {
    const beside = { x: isQuery ? 4 : WIDTH - 4, y, "text-anchor": isQuery ? "start" : "end", "dominant-baseline": "central" };
    group.append(svgElement("text", { ...beside, class: "number" }, weight.toFixed(2)));
  }
  group.classList.toggle("pointed", pointed?.[side] === place);
  return group;
}

/** The weight to write beside a token: of a key, what the query gives it; of a query, what it gives the key. */
function weightBeside(side, place, map, pointed) {
  if (!pointed) return null;
  const query = side === "query" ? place : pointed.query;
  const key = side === "key" ? place : pointed.key;
  if (query === null || key === null) return null;
  if (pointed.isCell && (query !== pointed.query || key !== pointed.key)) return null;
  return map.weights[query * map.columns + key];
}
