/** Elements from values. Text is always text: nothing here reads HTML. */
const SVG = "http://www.w3.org/2000/svg";
const SVG_TAGS = new Set(["svg", "g", "path", "line", "rect", "text", "circle", "title", "polyline"]);

export function h(tag, properties = {}, ...children) {
  const element = SVG_TAGS.has(tag) ? document.createElementNS(SVG, tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(properties ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** What a control is called, to find it in what replaces it. */
function called(control) {
  return control.name || control.getAttribute("aria-label") || control.textContent;
}

/** Gives an element other children. What had the focus has it again, and what was unfolded is. */
export function replace(parent, ...children) {
  const held = document.activeElement;
  const isInside = held !== parent && parent.contains(held);
  const name = isInside ? called(held) : null;
  const alike = () => [...parent.querySelectorAll(held.tagName)].filter((one) => called(one) === name);
  const at = isInside ? alike().indexOf(held) : -1;
  const unfolded = [...parent.querySelectorAll("details")].map((one) => one.open);
  parent.replaceChildren(...children.flat(Infinity).filter(Boolean));
  parent.querySelectorAll("details").forEach((one, i) => { one.open = unfolded[i] ?? false; });
  if (isInside && !held.isConnected) (alike()[at] ?? alike()[0])?.focus({ preventScroll: true });
}

export function table(columns, rows, empty) {
  if (rows.length === 0) return h("p", { class: "empty" }, empty);
  return h("div", { class: "scroll" },
    h("table", { class: "cards" },
      h("thead", {}, h("tr", {}, columns.map((c) => h("th", { class: c.number ? "n" : null, scope: "col" }, c.name)))),
      h("tbody", {}, rows.map((row) => h("tr", {}, columns.map((c) =>
        h("td", { class: c.number ? "n" : null, "data-name": c.name }, c.show(row))))))));
}

export function card(size, title, ...content) {
  return h("section", { class: `card ${size}` }, title ? h("h2", {}, title) : null, ...content);
}

/** A unified diff, with signs and colours. */
export function diffOf(lines) {
  if (!lines) return null;
  return h("pre", { class: "diff" }, lines.trimEnd().split("\n").map((line) =>
    h("span", { class: line.startsWith("+") ? "add" : line.startsWith("-") ? "del" : line.startsWith("@") ? "muted" : null }, `${line}\n`)));
}

/** The answer to the question that the page is about, before any figure. */
export function answer(sentence, more) {
  return h("div", { class: "answer" }, h("h1", {}, sentence), more ? h("p", { class: "sub" }, more) : null);
}

export function note(kind, ...content) {
  return h("div", { class: `note ${kind}`, role: kind === "bad" ? "alert" : "status" }, ...content);
}

/** One word for a shell, whatever clients wrote into it. */
function quoted(text) {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** A button that puts the same question as a command line into the clipboard; in the corner if it is a card's own. */
export function copyAsCurl(path, method = "GET", content = null, name = "") {
  const words = ["curl", "-H", '"Authorization: Bearer $token"'];
  if (method !== "GET") words.push("-X", method);
  if (content) words.push("--json", quoted(JSON.stringify(content)));
  words.push(quoted(location.origin + path));
  const sheet = (x, y) => h("rect", { x, y, width: 8, height: 9, rx: 1.5 });
  const said = h("span", {}, "copy as curl");
  const button = h("button", { class: "plain curl", type: "button", title: words.join(" "), "aria-label": `Copy ${name ? `${name} ` : ""}as curl` },
    h("svg", { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true" }, sheet(2, 2), sheet(6, 5)), said);
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(words.join(" "));
    said.textContent = "copied";
    button.classList.add("done");
    setTimeout(() => { said.textContent = "copy as curl"; button.classList.remove("done"); }, 1500);
  });
  return button;
}

/** A figure and its unit, which stay on one line. */
function withUnit(figure, unit) {
  return `${figure}\u00a0${unit}`;
}

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

export function bytes(count) {
  let value = count;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) { value /= 1024; unit++; }
  return withUnit(value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1), UNITS[unit]);
}

/** Bits per second, as people speak of links. */
export function bits(bytesPerSecond) {
  const megabits = bytesPerSecond * 8 / 1e6;
  if (megabits > 10000) return withUnit("> 10", "Gbit/s");
  return megabits >= 1000 ? withUnit((megabits / 1000).toFixed(1), "Gbit/s") : withUnit(rate(megabits), "Mbit/s");
}

export function count(value) {
  return Math.round(value).toLocaleString("en");
}

export function percent(ratio) {
  if (ratio === 0) return withUnit(0, "%");
  return withUnit((ratio * 100).toFixed(ratio > 0.995 || ratio < 0.1 ? 2 : 1), "%");
}

export function rate(value) {
  return value >= 100 ? count(value) : value.toFixed(1);
}

export function micros(value) {
  return value >= 10000 ? withUnit(rate(value / 1000), "ms") : withUnit(value >= 10 || value === 0 ? Math.round(value) : value.toFixed(1), "µs");
}

export function duration(seconds) {
  if (seconds < 90) return withUnit(Math.round(seconds), "s");
  if (seconds < 5400) return withUnit(Math.round(seconds / 60), "min");
  return seconds < 129600 ? withUnit(Math.round(seconds / 3600), "h") : withUnit(Math.round(seconds / 86400), "d");
}

/** A time of today by its clock, another one with its date. */
export function when(text) {
  const time = new Date(text);
  const day = time.toLocaleDateString("en-CA");
  const clock = time.toLocaleTimeString("en-GB");
  return day === new Date().toLocaleDateString("en-CA") ? clock : `${day} ${clock}`;
}

/** A figure for an axis: no decimals that say nothing. */
export function axis(value) {
  return value >= 1e6 ? `${value / 1e6} M` : value >= 1e4 ? `${value / 1e3} k` : Number(value.toPrecision(3)).toLocaleString("en");
}

export function millis(value) {
  return withUnit(value >= 100 ? count(value) : value.toFixed(value < 1 ? 2 : 1), "ms");
}
