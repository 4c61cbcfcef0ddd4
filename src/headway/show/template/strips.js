// The sentence as text: a token that is pointed at shades those it looks at and underlines those that look at it.

/** The sequences of a kind as lines of tokens; a text that takes no part is shown as text. */
function drawStrips(container, view, data) {
  const { kind } = view;
  const rows = [];
  for (const side of ["source", "target"]) {
    const text = data[`${side}_text`];
    if (text === null) continue;
    const roles = [kind.querySide === side && "query", kind.keySide === side && "key"].filter(Boolean);
    rows.push(roles.length ? stripOf(side, roles, view) : quietStrip(side, text));
  }
  container.replaceChildren(...rows);
}

function stripOf(side, roles, view) {
  const units = roles.includes("query") ? view.queries : view.keys;
  const strip = document.createElement("p");
  strip.className = "strip";
  strip.setAttribute("role", "group");
  strip.setAttribute("aria-label", `Tokens of the ${side}`);
  strip.append(nameOf(side));
  units.forEach((unit, place) => {
    const token = document.createElement("button");
    token.type = "button";
    token.className = "token";
    token.tabIndex = place === 0 ? 0 : -1;
    token.textContent = unit.text;
    token.classList.toggle("spaced", unit.isSpaced && place > 0);
    token.dataset.place = place;
    token.dataset.roles = roles.join(" ");
    strip.append(token);
  });
  return strip;
}

function quietStrip(side, text) {
  const strip = document.createElement("p");
  strip.className = "strip passive";
  strip.append(nameOf(side), text);
  return strip;
}

function nameOf(side) {
  const name = document.createElement("span");
  name.className = "side";
  name.textContent = side;
  return name;
}

/** What pointing at a token of a strip means: as a query, as a key, or as both. */
function pointedBy(token) {
  const place = Number(token.dataset.place);
  const roles = token.dataset.roles.split(" ");
  return {
    query: roles.includes("query") ? place : null,
    key: roles.includes("key") ? place : null,
    isCell: false,
  };
}

/** Shade and underline the tokens by the weights of what is pointed at. */
function shadeStrips(container, view, pointed) {
  for (const token of container.querySelectorAll("button.token")) {
    const place = Number(token.dataset.place);
    const roles = token.dataset.roles.split(" ");
    const looks = roles.includes("key") && pointed && pointed.query !== null ? weightAt(view.map, pointed.query, place) : 0;
    const looked = roles.includes("query") && pointed && pointed.key !== null ? weightAt(view.map, place, pointed.key) : 0;
    token.style.setProperty("--looks", looks.toFixed(3));
    token.style.setProperty("--looked", looked.toFixed(3));
    token.classList.toggle("strong", looks > 0.45);
    const isPointed = roles.some((role) => pointed?.[role] === place);
    token.classList.toggle("pointed", isPointed);
  }
}

function weightAt(map, query, key) {
  return map.weights[query * map.columns + key];
}

/** The numbers of what is pointed at, in words. */
function readoutOf(view, pointed) {
  if (!pointed) return [["", "Point at a token, a row or a cell."]];
  const { map, queries, keys } = view;
  if (pointed.isCell) {
    const weight = weightAt(map, pointed.query, pointed.key).toFixed(3);
    return [["out", `${queries[pointed.query].text} → ${keys[pointed.key].text}: ${weight}`]];
  }
  const list = (weights, units) =>
    largest(weights, 6).map((entry) => `${units[entry.place].text} ${entry.weight.toFixed(2)}`).join("  ·  ") || "nobody";
  const lines = [];
  if (pointed.query !== null) lines.push(["out", `${queries[pointed.query].text} looks at  ${list(rowOf(map, pointed.query), keys)}`]);
  if (pointed.key !== null) lines.push(["in", `${keys[pointed.key].text} is looked at by  ${list(columnOf(map, pointed.key), queries)}`]);
  return lines;
}
