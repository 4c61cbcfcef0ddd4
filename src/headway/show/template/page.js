// What is shown and what happens on clicks and keys. All that can change is in `state`.

const data = JSON.parse(document.getElementById("document").textContent);
const kinds = readKinds(data);
const TALLEST_MAP = 900;
const PAPER = { width: 620, height: 400 };
const MOST_BESIDE_LINES = 36;
const element = (id) => document.getElementById(id);

const state = {
  kind: kinds[0],
  chosen: [],
  cursor: { layer: 0, head: 0 },
  choosesSeveral: false,
  joined: false,
  view: "map",
  pointed: null,
  pinned: null,
  isPrinting: false,
};
let view = null;
let colours = null;

/** The map of one head as it is to be shown. */
function shownMap(layer, head) {
  const map = state.kind.at(layer, head);
  return state.joined ? joinWords(map, state.kind.queries.words, state.kind.keys.words) : map;
}

/** What follows from the state: the map that is shown large, and its labels. */
function makeView() {
  const { kind, joined, chosen } = state;
  return {
    kind,
    map: averageMaps(chosen.map(({ layer, head }) => shownMap(layer, head))),
    queries: unitsOf(kind.queries, joined),
    keys: unitsOf(kind.keys, joined),
  };
}

function isChosen(layer, head) {
  return state.chosen.some((each) => each.layer === layer && each.head === head);
}

/** Everything anew, after a change of kind, of theme, or from pieces to words. */
function render() {
  colours = colourTable();
  drawLegend(element("legend"), colours);
  element("facts").textContent = `${counted(state.kind.layers, "layer")} of ${counted(state.kind.heads, "head")}`;
  const holdsFocus = (id) => element(id).contains(document.activeElement);
  const [wasInGrid, wasInStrips] = [holdsFocus("grid"), holdsFocus("strips")];
  drawStrips(element("strips"), makeView(), data);
  renderGrid();
  renderChoice();
  if (wasInGrid) focusHead();
  if (wasInStrips) element("strips").querySelector("button.token").focus();
}

function counted(number, name) {
  return `${number} ${name}${number === 1 ? "" : "s"}`;
}

function focusHead() {
  const { layer, head } = state.cursor;
  element("grid").querySelector(`[data-layer="${layer}"][data-head="${head}"]`).focus();
}

function renderGrid() {
  const { kind } = state;
  const grid = element("grid");
  grid.style.setProperty("--heads", kind.heads);
  const items = [document.createElement("span")];
  for (let head = 0; head < kind.heads; head++) items.push(gridName("span", `${head + 1}`, `Head ${head + 1}`));
  for (let layer = 0; layer < kind.layers; layer++) {
    const name = gridName("button", `${layer + 1}`, `Layer ${layer + 1}: average of its heads`);
    name.addEventListener("click", () => choose(allHeads().filter((each) => each.layer === layer)));
    items.push(name);
    for (let head = 0; head < kind.heads; head++) items.push(headButton(layer, head));
  }
  grid.replaceChildren(...items);
  for (const button of grid.querySelectorAll(".head")) {
    drawSmallMap(button.firstChild, shownMap(...placeOf(button)), colours);
  }
}

function gridName(tag, text, title) {
  const name = document.createElement(tag);
  name.className = "name";
  name.textContent = text;
  name.title = title;
  if (tag === "button") Object.assign(name, { type: "button", ariaLabel: title });
  return name;
}

function headButton(layer, head) {
  const { confidence } = factsOf(state.kind.at(layer, head));
  const button = document.createElement("button");
  button.type = "button";
  button.className = "head";
  button.dataset.layer = layer;
  button.dataset.head = head;
  button.title = `Layer ${layer + 1}, head ${head + 1}`;
  button.setAttribute("aria-label", `Layer ${layer + 1}, head ${head + 1}, mean top weight ${confidence.toFixed(2)}`);
  button.append(document.createElement("canvas"));
  return button;
}

function placeOf(button) {
  return [Number(button.dataset.layer), Number(button.dataset.head)];
}

/** The detail, and which heads are marked in the overview. */
function renderChoice() {
  view = makeView();
  for (const button of element("grid").querySelectorAll(".head")) {
    const [layer, head] = placeOf(button);
    button.setAttribute("aria-pressed", isChosen(layer, head));
    button.tabIndex = layer === state.cursor.layer && head === state.cursor.head ? 0 : -1;
  }
  element("detail-title").textContent = choiceName();
  const { confidence, entropy } = factsOf(view.map);
  element("detail-facts").textContent = `mean top weight ${confidence.toFixed(2)} · mean entropy ${entropy.toFixed(2)} bits`;
  element("reading").textContent = state.kind.reading + (state.joined ? ` ${JOINED}` : "");
  element("several").setAttribute("aria-pressed", state.choosesSeveral);
  element("joined").setAttribute("aria-pressed", state.joined);
  const pictures = element("pictures");
  pictures.dataset.view = state.view;
  pictures.classList.toggle("long", view.map.columns > MOST_BESIDE_LINES);
  for (const input of document.querySelectorAll('input[name="view"]')) input.checked = input.value === state.view;
  for (const input of document.querySelectorAll('input[name="kind"]')) input.checked = input.value === state.kind.name;
  const room = state.isPrinting ? PAPER : { width: element("map").clientWidth, height: TALLEST_MAP };
  drawLargeMap(element("map"), view, colours, room);
  renderPointing();
}

function choiceName() {
  const { chosen, kind } = state;
  if (chosen.length === 1) return `Layer ${chosen[0].layer + 1}, head ${chosen[0].head + 1}`;
  if (chosen.length === kind.layers * kind.heads) return "Average of all heads";
  const layers = new Set(chosen.map(({ layer }) => layer));
  const isLayer = layers.size === 1 && chosen.length === kind.heads;
  return isLayer ? `Average of layer ${chosen[0].layer + 1}` : `Average of ${chosen.length} heads`;
}

/** What is pointed at, in every picture. */
function renderPointing() {
  const pointed = state.pointed ?? state.pinned;
  shadeStrips(element("strips"), view, pointed);
  markMap(element("map"), pointed);
  drawLines(element("lines"), view, pointed);
  element("readout").replaceChildren(
    ...readoutOf(view, pointed).map(([direction, text]) => {
      const line = document.createElement("span");
      line.className = direction;
      line.textContent = text;
      return line;
    }),
  );
}

function point(pointed) {
  if (JSON.stringify(pointed) === JSON.stringify(state.pointed)) return;
  state.pointed = pointed;
  renderPointing();
}

/** Keep what is pointed at, or let go of it if it is kept already. */
function pin(pointed) {
  state.pinned = JSON.stringify(pointed) === JSON.stringify(state.pinned) ? null : pointed;
  state.pointed = null;
  renderPointing();
}

function allHeads() {
  const { layers, heads } = state.kind;
  return Array.from({ length: layers * heads }, (_, i) => ({ layer: Math.floor(i / heads), head: i % heads }));
}

function choose(chosen) {
  state.chosen = chosen;
  state.cursor = chosen[chosen.length - 1];
  renderChoice();
}

/** Add a head to those that are averaged, or take it away; one always stays. */
function toggle(layer, head) {
  const others = state.chosen.filter((each) => each.layer !== layer || each.head !== head);
  if (!isChosen(layer, head)) others.push({ layer, head });
  state.chosen = others.length ? others : state.chosen;
  state.cursor = { layer, head };
  renderChoice();
}

function showKind(name) {
  const { layer, head } = state.cursor;
  state.kind = kinds.find((kind) => kind.name === name);
  state.cursor = { layer: Math.min(layer, state.kind.layers - 1), head: Math.min(head, state.kind.heads - 1) };
  state.chosen = [state.cursor];
  state.pointed = state.pinned = null;
  render();
}

/** Change between pieces and words, and keep pointing at the same place. */
function showWords(joined) {
  const { queries, keys } = state.kind;
  const moved = (place, words) => (place === null ? null : joined ? words[place] : words.indexOf(place));
  const { pinned } = state;
  state.pinned = pinned && { ...pinned, query: moved(pinned.query, queries.words), key: moved(pinned.key, keys.words) };
  state.pointed = null;
  state.joined = joined;
  render();
}

function showView(name) {
  state.view = name;
  renderChoice();
}

/** Where the page begins: the head of the story. */
function open() {
  const { kind, layer, head, query } = data.opening;
  state.joined = false;
  state.kind = kinds.find((each) => each.name === kind);
  state.cursor = { layer, head };
  state.chosen = [state.cursor];
  state.pointed = null;
  state.pinned = query === null ? null : { query, key: null, isCell: false };
  render();
}
