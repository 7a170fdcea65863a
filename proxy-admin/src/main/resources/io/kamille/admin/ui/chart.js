/** Lines over time, with a sentence and a table for those who do not see them. */
import { axis, h } from "./dom.js";

const HEIGHT = 184;
const LEFT = 56;
const BOTTOM = 20;

function nice(greatest) {
  if (greatest <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(greatest));
  return [1, 2, 5, 10].map((step) => step * power).find((limit) => limit >= greatest);
}

function points(values, steps, greatest, width, height, left) {
  const step = (width - left) / Math.max(1, steps - 1);
  const start = steps - values.length;
  return values.map((value, i) =>
    `${(left + (start + i) * step).toFixed(1)},${(height - (value / greatest) * height).toFixed(1)}`);
}

/** A line without axes, as tall as its element. */
export function spark(values, steps, label) {
  const greatest = Math.max(...values, 1e-9);
  const line = points(values, steps, greatest, 200, 30, 0).map((p) => {
    const [x, y] = p.split(",");
    return `${x},${Number(y) + 1}`;
  });
  return h("svg", { viewBox: "0 0 200 32", preserveAspectRatio: "none", role: "img", "aria-label": label },
    values.length > 1 ? h("polyline", { class: "l1", points: line.join(" ") }) : null);
}

/**
 * A chart.
 * @param series [{name, values}], at most three
 * @param stepSeconds from one value to the next
 * @param show how a value is written
 * @param sentence what it shows, in words
 * @param marks [{time, name}], what was changed meanwhile
 * @param look called with a moment and how many seconds around it were meant; null if nobody asks
 */
export function chart(series, steps, stepSeconds, show, sentence, marks = [], look = null) {
  const width = innerWidth < 600 ? 320 : 640;
  const greatest = nice(Math.max(0, ...series.flatMap((one) => one.values)));
  const height = HEIGHT - BOTTOM;
  const lines = [0, 0.5, 1].map((share) => {
    const y = 8 + (height - 12) * (1 - share);
    return [
      h("line", { class: "axis", x1: LEFT, x2: width, y1: y, y2: y }),
      h("text", { x: LEFT - 6, y: y + 4, "text-anchor": "end" }, axis(greatest * share)),
    ];
  });
  const span = steps * stepSeconds;
  const ago = (seconds) => seconds < 3 ? "now" : seconds < 120 ? `−${Math.round(seconds)} s` : seconds >= 7200 ? `−${Math.round(seconds / 3600)} h` : `−${Math.round(seconds / 60)} min`;
  const times = [1, 0.5, 0].map((share) => h("text", {
    x: width - (width - LEFT) * share, y: HEIGHT - 4,
    "text-anchor": share === 1 ? "start" : share === 0 ? "end" : "middle" }, ago(span * share)));
  const paths = series.map((one, i) => {
    const line = points(one.values, steps, greatest, width, height - 12, LEFT).map((p) => {
      const [x, y] = p.split(",");
      return `${x},${(Number(y) + 8).toFixed(1)}`;
    });
    return h("polyline", { class: `l${i + 1}`, points: line.join(" ") });
  });
  const seen = marks.map((mark) => ({ ...mark, ago: (Date.now() - new Date(mark.time)) / 1000 })).filter((mark) => mark.ago < span);
  const flags = seen.map((mark) => {
    const x = width - (width - LEFT) * (mark.ago / span);
    return h("g", {}, h("line", { class: "mark", x1: x, x2: x, y1: 8, y2: height - 4 }), h("title", {}, `${mark.name}, ${ago(mark.ago)}`));
  });
  const last = (one) => one.values.length ? show(one.values[one.values.length - 1]) : "none";
  const around = Math.max(30, span / 20);
  const pressed = (event) => {
    const box = event.currentTarget.getBoundingClientRect();
    const share = ((event.clientX - box.left) / box.width * width - LEFT) / (width - LEFT);
    if (share >= 0) look(new Date(Date.now() - (1 - share) * span * 1000), around);
  };
  return h("figure", { class: look ? "chart asks" : "chart" },
    h("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": sentence, onclick: look ? pressed : null }, lines, times, flags, paths),
    h("figcaption", { class: "legend" },
      series.map((one, i) => h("span", {}, h("i", { class: `k${i + 1}` }), `${one.name}: ${last(one)}`))),
    look === null ? null : h("p", { class: "legend" }, h("span", {}, "What changed here?"), seen.length === 0 ? h("span", {}, "Nothing. Press the chart at any moment.") : seen.slice(0, 5).map((mark) =>
      h("button", { type: "button", class: "plain", name: `m${mark.time}`, onclick: () => look(new Date(mark.time), 5) }, `${mark.name}, ${ago(mark.ago)}`))),
    h("details", {}, h("summary", {}, "as a table"), tableOf(series, stepSeconds, show)));
}

function tableOf(series, stepSeconds, show) {
  const length = Math.max(0, ...series.map((one) => one.values.length));
  const every = Math.max(1, Math.ceil(length / 10));
  const rows = [];
  for (let back = 0; back < length; back += every) {
    rows.push(h("tr", {}, h("td", {}, back === 0 ? "now" : `${back * stepSeconds} s ago`),
      series.map((one) => h("td", { class: "n" }, show(one.values[one.values.length - 1 - back] ?? 0)))));
  }
  return h("table", {}, h("thead", {}, h("tr", {}, h("th", {}, "when"), series.map((one) => h("th", { class: "n" }, one.name)))),
    h("tbody", {}, rows));
}
