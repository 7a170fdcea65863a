/** Is everything well, and if not, what is worst? */
import { get } from "./api.js";
import { changedAround, changes } from "./changes.js";
import { chart, spark } from "./chart.js";
import { answer, bytes, card, copyAsCurl, count, duration, h, millis, percent, rate, replace, table } from "./dom.js";

const RANGES = [["minutes", "last ten minutes"], ["hours", "last six hours"], ["days", "last two weeks"]];

function worst(status, figures) {
  const out = status.upstreams.flatMap((upstream) => upstream.origins
    .filter((origin) => origin.state === "out").map((origin) => `${origin.name} of ${upstream.name}`));
  if (status.state === "draining") return "Kamille finishes its last exchanges and accepts no new ones.";
  if (status.state === "starting") return "Kamille starts.";
  if (out.length > 0) return `${out.length === 1 ? "An origin is" : `${out.length} origins are`} out: ${out.join(", ")}.`;
  const failures = (figures.failuresPerSecond ?? []).slice(-60).reduce((sum, value) => sum + value, 0);
  if (failures >= 1) return `Origins failed to answer ${count(failures)} requests in the last minute.`;
  const drained = status.upstreams.flatMap((upstream) => upstream.origins).filter((origin) => origin.drainedUntil).map((origin) => origin.name);
  if (drained.length > 0) return `All is well. ${drained.join(", ")} ${drained.length === 1 ? "is" : "are"} drained.`;
  if (status.cache.objects === 0) return "All is well. Nothing is stored yet.";
  return "All is well.";
}

/** A figure with its line; it stays in the page while its value changes. */
function tile(name, path) {
  const value = h("div", { class: "value" });
  const line = h("div");
  const element = h("section", { class: "card c3 tile" }, h("div", { class: "name" }, name), copyAsCurl(path, "GET", null, name), value, line);
  const set = (figure, unit, values, steps) => {
    replace(value, figure, unit ? h("span", { class: "unit" }, unit) : null);
    replace(line, spark(values ?? [], steps, `${name} lately`));
  };
  return { element, set };
}

function last(values) {
  return values?.at(-1) ?? 0;
}

function sum(values) {
  return values.reduce((all, value) => all + value, 0);
}

/** The tables below the chart: what each shows of the status. */
const TABLES = [
  ["c4", "Where it listens", (status) => [[
    { name: "Address", show: (one) => h("span", { class: "mono" }, one.address.slice(0, one.address.lastIndexOf(":") + 1), h("wbr"), one.address.slice(one.address.lastIndexOf(":") + 1)) },
    { name: "Connections", number: true, show: (one) => count(one.connections) },
    { name: "Certificate until", show: (one) => (one.certificateExpires ?? "—").slice(0, 10) },
  ], status.listeners, "No listener."]],
  ["c6", "Upstreams", (status) => [[
    { name: "Upstream", show: (one) => one.name },
    { name: "Origins in", number: true, show: (one) => `${one.origins.filter((o) => o.state === "in").length} of ${one.origins.length}` },
    { name: "Under way", number: true, show: (one) => count(sum(one.origins.map((o) => o.inFlight))) },
    { name: "Failures", number: true, show: (one) => count(sum(one.origins.map((o) => o.failures))) },
  ], status.upstreams, "No upstream."]],
  ["c6", "Loops", (status) => [[
    { name: "Loop", show: (one) => h("span", { class: "mono" }, one.name) },
    { name: "Requests", number: true, show: (one) => count(one.requests) },
    { name: "Connections", number: true, show: (one) => count(one.connections) },
    { name: "CPU", number: true, show: (one) => `${one.cpuSeconds.toFixed(1)} s` },
  ], status.loops, "No loop."]],
];

export async function overview(place) {
  let status = null;
  let marks = [];
  let past = null;
  const head = h("div");
  const tiles = {
    requests: tile("Requests", "/v1/series"), ratio: tile("Hit ratio", "/v1/series"),
    hits: tile("Hits, p99", "/v1/series"), misses: tile("Misses, p99", "/v1/series"),
    failures: tile("Failures", "/v1/upstreams"), connections: tile("Connections", "/v1/series"),
    memory: tile("Memory", "/v1/cache/tiers"), processors: tile("CPU per request", "/v1/series"),
  };
  const plot = h("div");
  const around = h("div", { class: "around", "aria-live": "polite" });
  const tables = TABLES.map(([size, title, rows]) => ({ rows, place: h("div"), size, title }));
  const range = h("select", { name: "range", "aria-label": "Time", onchange: () => readPast().then(draw) },
    RANGES.map(([name, words]) => h("option", { value: name }, words)));

  /** A range beyond the last minutes is asked for; with as many points as there are, at least a few. */
  const readPast = async () => {
    const wanted = range.value;
    if (wanted === "minutes") {
      past = null;
      return;
    }
    const found = await get(`/v1/series?range=${wanted}`, place.signal);
    past = { ...found, steps: Math.min(found.steps, Math.max(60, found.figures.requestsPerSecond.length)) };
  };
  const look = (time, seconds) => replace(around, changedAround(place, marks, time, seconds, () => replace(around)));
  const draw = () => {
    if (!status || place.signal.aborted) return;
    const { figures, stepSeconds } = place.history;
    const requests = figures.requestsPerSecond ?? [];
    const hits = figures.hitsPerSecond ?? [];
    const steps = Math.min(place.history.steps, Math.max(120, requests.length));
    const asked = sum(requests.slice(-60));
    replace(head, answer(worst(status, figures), `Up for ${duration(status.uptimeSeconds)}, ${count(status.cache.hits + status.cache.misses)} requests since the start. Hit ratio, p99 and CPU are of the last minute.`));
    tiles.requests.set(rate(last(requests)), "/s", requests, steps);
    tiles.ratio.set(asked > 0 ? percent(sum(hits.slice(-60)) / asked) : "–", "", requests.map((all, i) => (all > 0 ? hits[i] / all : 0)), steps);
    for (const [one, values] of [[tiles.hits, figures.hitP99Millis ?? []], [tiles.misses, figures.missP99Millis ?? []]]) {
      const slowest = Math.max(0, ...values.slice(-60));
      one.set(slowest > 0 ? millis(slowest).split("\u00a0")[0] : "–", slowest > 0 ? "ms" : "", values, steps);
    }
    tiles.failures.set(rate(last(figures.failuresPerSecond)), "/s", figures.failuresPerSecond, steps);
    tiles.connections.set(count(last(figures.connections)), "", figures.connections, steps);
    tiles.memory.set(bytes(status.cache.usedBytes), "", figures.memoryBytes, steps);
    const perRequest = (cpu, all) => (all > 0 ? cpu / all * 1e6 : 0);
    const cost = perRequest(sum((figures.processors ?? []).slice(-60)), asked);
    tiles.processors.set(cost > 0 ? rate(cost) : "–", cost > 0 ? "µs" : "", (figures.processors ?? []).map((cpu, i) => perRequest(cpu, requests[i])), steps);
    const shown = past ?? { figures, stepSeconds, steps };
    replace(plot, chart(
      [{ name: "hits", values: shown.figures.hitsPerSecond ?? [] }, { name: "requests", values: shown.figures.requestsPerSecond ?? [] }],
      shown.steps, shown.stepSeconds, rate,
      `Requests per second lately; now ${rate(last(requests))}, of which ${rate(last(hits))} are hits.`, marks, look));
    for (const one of tables) replace(one.place, table(...one.rows(status)));
  };
  const [listeners, ...others] = tables.map((one) => card(one.size, one.title, one.place, copyAsCurl("/v1/status")));
  const page = [head, h("div", { class: "grid" }, Object.values(tiles).map((one) => one.element),
    card("c8", "Requests and hits per second", range, plot, copyAsCurl("/v1/series")), listeners, around, others)];
  addEventListener("figures", draw, { signal: place.signal });
  await place.every(2, async () => {
    [status, marks] = await Promise.all([get("/v1/status", place.signal), changes(place.status() ?? {}, place.signal), readPast()]);
    if (!head.isConnected) replace(place.main, page);
    draw();
  });
}
