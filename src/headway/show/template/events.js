// Clicks, the mouse and keys.

const ARROWS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function fillControls() {
  element("finding").textContent = data.opening.finding;
  element("rule").textContent = data.opening.rule;
  element("kinds").append(...kinds.map((kind) => segment("kind", kind.name, kind.title)));
  element("views").append(segment("view", "map", "Map"), segment("view", "lines", "Lines"));
}

/** One choice among several: a radio button with its name. */
function segment(group, value, title) {
  const label = document.createElement("label");
  const input = document.createElement("input");
  Object.assign(input, { type: "radio", name: group, value });
  const text = document.createElement("span");
  text.textContent = title;
  label.append(input, text);
  return label;
}

function listenToControls() {
  element("kinds").addEventListener("change", (event) => showKind(event.target.value));
  element("views").addEventListener("change", (event) => showView(event.target.value));
  element("joined").addEventListener("click", () => showWords(!state.joined));
  element("average").addEventListener("click", () => choose(allHeads()));
  element("reopen").addEventListener("click", open);
  element("several").addEventListener("click", () => {
    state.choosesSeveral = !state.choosesSeveral;
    renderChoice();
  });
  element("grid").addEventListener("click", (event) => {
    const button = event.target.closest(".head");
    if (!button) return;
    const [layer, head] = placeOf(button);
    const adds = state.choosesSeveral || event.ctrlKey || event.metaKey || event.shiftKey;
    if (adds) toggle(layer, head);
    else choose([{ layer, head }]);
  });
}

/** Pointing with the mouse: tokens of the strips and of the lines, labels and cells of the map. */
function listenToPointing() {
  const fromToken = (event) => {
    const token = event.target.closest("button.token");
    return token && pointedBy(token);
  };
  const fromSide = (event) => {
    const item = event.target.closest("[data-side]");
    if (!item) return null;
    const place = Number(item.dataset.place);
    return { query: null, key: null, isCell: false, [item.dataset.side]: place };
  };
  const fromMap = (event) => fromSide(event) ?? (event.target.closest(".cells") && cellAt(element("map"), event, view.map));
  const sources = { strips: fromToken, lines: fromSide, map: fromMap };
  for (const [id, read] of Object.entries(sources)) {
    element(id).addEventListener("mousemove", (event) => {
      const pointed = read(event);
      point(pointed);
      showTip(pointed?.isCell ? pointed : null, event.clientX, event.clientY);
    });
    element(id).addEventListener("mouseleave", () => {
      point(null);
      showTip(null);
    });
    element(id).addEventListener("click", (event) => {
      const pointed = read(event);
      if (pointed) pin(pointed);
    });
  }
  element("strips").addEventListener("focusin", (event) => point(fromToken(event)));
  element("strips").addEventListener("focusout", () => point(null));
}

/** The number of a cell beside the mouse. */
function showTip(pointed, x = 0, y = 0) {
  const tip = element("tip");
  tip.hidden = !pointed;
  if (!pointed) return;
  tip.textContent = readoutOf(view, pointed)[0][1];
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  Object.assign(tip.style, { left: `${Math.max(8, Math.min(x + 14, room))}px`, top: `${y + 18}px` });
}

function listenToKeys() {
  element("grid").addEventListener("keydown", (event) => {
    const button = event.target.closest(".head");
    if (!button) return;
    if (event.key in ARROWS) moveHead(event, ...placeOf(button));
    if (event.key === " ") {
      event.preventDefault();
      toggle(...placeOf(button));
    }
  });
  element("grid").addEventListener("keyup", (event) => {
    if (event.key === " " && event.target.closest(".head")) event.preventDefault(); // Firefox would click
  });
  element("strips").addEventListener("keydown", moveToken);
  element("map").addEventListener("keydown", moveCell);
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") goBack();
    if (event.key.toLowerCase() === "w") showWords(!state.joined);
    if (event.key.toLowerCase() === "v") showView(state.view === "map" ? "lines" : "map");
  });
}

/** Go to the next head in the direction of an arrow, and show it unless heads are being collected. */
function moveHead(event, layer, head) {
  event.preventDefault();
  const [down, right] = ARROWS[event.key];
  const next = { layer: clamp(layer + down, state.kind.layers), head: clamp(head + right, state.kind.heads) };
  if (!state.choosesSeveral) state.chosen = [next];
  state.cursor = next;
  renderChoice();
  focusHead();
}

/** The next token of the sentence, or the nearest one of the other sentence. */
function moveToken(event) {
  const token = event.target.closest("button.token");
  if (!token || !(event.key in ARROWS)) return;
  event.preventDefault();
  const [down, right] = ARROWS[event.key];
  const strips = [...element("strips").querySelectorAll(".strip:not(.passive)")];
  const strip = strips[clamp(strips.indexOf(token.parentElement) + down, strips.length)];
  const tokens = [...strip.querySelectorAll("button.token")];
  const next = tokens[clamp(Number(token.dataset.place) + right, tokens.length)];
  for (const each of tokens) each.tabIndex = each === next ? 0 : -1;
  next.focus();
}

function moveCell(event) {
  if (!(event.key in ARROWS)) return;
  event.preventDefault();
  const [down, right] = ARROWS[event.key];
  const { query, key } = state.pinned?.isCell ? state.pinned : { query: 0, key: 0 };
  const isFirst = !state.pinned?.isCell;
  state.pinned = {
    query: isFirst ? query : clamp(query + down, view.map.rows),
    key: isFirst ? key : clamp(key + right, view.map.columns),
    isCell: true,
  };
  renderPointing();
}

function clamp(number, count) {
  return Math.min(Math.max(number, 0), count - 1);
}

/** One step back: from what is kept, from several heads to one, from the detail to the overview. */
function goBack() {
  if (state.pinned || state.pointed) {
    state.pinned = state.pointed = null;
    showTip(null);
    renderPointing();
  } else if (state.chosen.length > 1 || state.choosesSeveral) {
    state.choosesSeveral = false;
    choose([state.cursor]);
  } else {
    focusHead();
  }
}

function listenToThemeAndPrinter() {
  const showTheme = listenToTheme(element("theme"), render);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  // Paper is white, whatever the screen is, and nobody can open what is closed on it.
  const details = document.querySelector("details");
  let wasOpen = false;
  addEventListener("beforeprint", () => {
    wasOpen = details.open;
    details.open = true;
    document.documentElement.style.colorScheme = "light";
    state.isPrinting = true;
    render();
  });
  addEventListener("afterprint", () => {
    details.open = wasOpen;
    state.isPrinting = false;
    showTheme();
  });
}

function listenToSize() {
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    render();
  });
}

fillControls();
listenToControls();
listenToPointing();
listenToKeys();
listenToThemeAndPrinter();
listenToSize();
open();
window.headway = { data, kinds, view: () => view }; // for the console
