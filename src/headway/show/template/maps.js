// Maps of weights: the colours, the small maps of the overview, the large map with its labels.

const SMALLEST_CELL = 11;
const LARGEST_CELL = 44;
const CELL_WITH_NUMBER = 30;
const LONGEST_LABEL = 16;
const OVERHANG = 34; // of the last tilted label

/** 256 colours from weight 0 to weight 1, between the colours that the style sheet names. */
function colourTable() {
  const stops = ["--map-0", "--map-1", "--map-2", "--map-3"].map(resolvedColour);
  return Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (stops.length - 1);
    const below = Math.min(Math.floor(place), stops.length - 2);
    return stops[below].map((value, c) => Math.round(value + (stops[below + 1][c] - value) * (place - below)));
  });
}

/** The red, green and blue that a custom property has in the current theme. */
function resolvedColour(name) {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const numbers = getComputedStyle(probe).color.match(/[\d.]+/g).slice(0, 3).map(Number);
  probe.remove();
  return numbers;
}

/** Small weights are raised a little, so that they can be told apart; the legend is drawn with it too. */
function colourOf(colours, weight) {
  return colours[Math.round(255 * Math.min(Math.max(weight, 0), 1) ** 0.65)];
}

/** A canvas with a pixel for every weight. */
function pixelsOf(map, colours) {
  const canvas = document.createElement("canvas");
  canvas.width = map.columns;
  canvas.height = map.rows;
  const context = canvas.getContext("2d");
  const image = context.createImageData(map.columns, map.rows);
  map.weights.forEach((weight, i) => image.data.set([...colourOf(colours, weight), 255], 4 * i));
  context.putImageData(image, 0, 0);
  return canvas;
}

/** Draw a map into a canvas of any size: sharp cells where there is room, else their mean. */
function drawSmallMap(canvas, map, colours) {
  const size = 2 * Math.max(canvas.clientWidth, 24);
  canvas.width = size;
  canvas.height = size;
  const context = canvas.getContext("2d");
  context.imageSmoothingEnabled = Math.max(map.rows, map.columns) > size;
  context.imageSmoothingQuality = "high";
  context.drawImage(pixelsOf(map, colours), 0, 0, size, size);
}

/** The scale from 0 to 1. */
function drawLegend(canvas, colours) {
  const context = canvas.getContext("2d");
  for (let x = 0; x < canvas.width; x++) {
    context.fillStyle = `rgb(${colourOf(colours, x / (canvas.width - 1))})`;
    context.fillRect(x, 0, 1, 1);
  }
}

/** How large a cell may be so that the map fits a room. */
function cellSize(map, width, height) {
  const fitting = Math.min(width / map.columns, height / map.rows, LARGEST_CELL);
  return Math.max(Math.floor(fitting), SMALLEST_CELL);
}

/** Pixels that the longest label of a side takes. */
function labelLength(units) {
  return 8 * Math.max(...units.map((unit) => Math.min(unit.text.length, LONGEST_LABEL))) + 14;
}

/** The large map: labels above and to the left, cells, numbers in them if there is room. */
function drawLargeMap(figure, view, colours, room) {
  const { map, queries, keys } = view;
  const labelWidth = labelLength(queries);
  const cell = cellSize(map, room.width - labelWidth - OVERHANG, room.height);
  const [width, height] = [cell * map.columns, cell * map.rows];
  figure.style.setProperty("--cell", `${cell}px`);
  figure.style.setProperty("--label", `${labelWidth}px`);
  figure.style.setProperty("--column-label", `${0.82 * labelLength(keys) + 6}px`);
  figure.style.setProperty("--overhang", `${OVERHANG}px`);
  figure.querySelector(".row-labels").replaceChildren(...queries.map((unit, i) => labelOf(unit, "query", i)));
  figure.querySelector(".column-labels").replaceChildren(...keys.map((unit, i) => labelOf(unit, "key", i)));
  const canvas = figure.querySelector("canvas");
  const ratio = Math.max(window.devicePixelRatio, 2);
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  map.weights.forEach((weight, i) => {
    const [x, y] = [(i % map.columns) * cell, Math.floor(i / map.columns) * cell];
    context.fillStyle = `rgb(${colourOf(colours, weight)})`;
    context.fillRect(x, y, cell - 1, cell - 1);
    if (cell >= CELL_WITH_NUMBER && weight >= 0.005) drawNumber(context, weight, x, y, cell, colours);
  });
  figure.dataset.cell = cell;
}

function drawNumber(context, weight, x, y, cell, colours) {
  const [red, green, blue] = colourOf(colours, weight);
  const isLight = 0.3 * red + 0.59 * green + 0.11 * blue > 140;
  context.fillStyle = isLight ? "#10182b" : "#ffffff";
  context.font = `${Math.round(cell / 3.4)}px system-ui, sans-serif`;
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.fillText(weight.toFixed(2).replace(/^0/, ""), x + (cell - 1) / 2, y + cell / 2);
}

/** A label of the map; its whole text is there to read when it has to be cut. */
function labelOf(unit, side, place) {
  const label = document.createElement("span");
  label.className = "label";
  label.dataset.side = side;
  label.dataset.place = place;
  label.title = unit.text;
  const text = document.createElement("span");
  text.textContent = unit.text.length > LONGEST_LABEL ? `${unit.text.slice(0, LONGEST_LABEL - 1)}…` : unit.text;
  label.append(text);
  return label;
}

/** Mark the row and the column that are pointed at. */
function markMap(figure, pointed) {
  const cell = Number(figure.dataset.cell);
  const place = (band, number, side) => {
    band.hidden = number === null;
    band.style[side] = `${number * cell}px`;
  };
  place(figure.querySelector(".band.row"), pointed?.query ?? null, "top");
  place(figure.querySelector(".band.column"), pointed?.key ?? null, "left");
  for (const label of figure.querySelectorAll(".label")) {
    const { side, place: number } = label.dataset;
    label.classList.toggle("pointed", pointed?.[side] === Number(number));
  }
}

/** The cell under the mouse. */
function cellAt(figure, event, map) {
  const box = figure.querySelector("canvas").getBoundingClientRect();
  const cell = Number(figure.dataset.cell);
  const query = Math.floor((event.clientY - box.top) / cell);
  const key = Math.floor((event.clientX - box.left) / cell);
  const isInside = query >= 0 && key >= 0 && query < map.rows && key < map.columns;
  return isInside ? { query, key, isCell: true } : null;
}
