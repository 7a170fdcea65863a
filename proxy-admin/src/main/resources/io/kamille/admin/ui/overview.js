/** Is everything well, and if not, what is worst? */
import { get } from "./api.js";
import { chart, spark } from "./chart.js";
import { answer, bytes, card, copyAsCurl, count, duration, h, percent, rate, replace, table } from "./dom.js";

function worst(status, figures) {
  const out = status.upstreams.flatMap((upstream) => upstream.origins
    .filter((origin) => origin.state === "out").map((origin) => `${origin.name} of ${upstream.name}`));
  if (status.state === "draining") return "Kamille finishes its last exchanges and accepts no new ones.";
  if (status.state === "starting") return "Kamille starts.";
  if (out.length > 0) return `${out.length === 1 ? "An origin is" : `${out.length} origins are`} out: ${out.join(", ")}.`;
  const failures = (figures.failuresPerSecond ?? []).slice(-60).reduce((sum, value) => sum + value, 0);
  if (failures >= 1) return `Origins failed to answer ${count(failures)} requests in the last minute.`;
  if (status.cache.objects === 0) return "All is well. Nothing is stored yet.";
  return "All is well.";
}

function tile(name, value, unit, values, steps) {
  return h("section", { class: "card c2 tile" },
    h("div", { class: "name" }, name),
    h("div", { class: "value" }, value, unit ? h("span", { class: "unit" }, unit) : null),
    spark(values ?? [], steps, `${name} lately`));
}

function last(values) {
  return values?.at(-1) ?? 0;
}

/** What was changed lately: versions of the configuration and purges. */
async function changes(status, signal) {
  const [{ purges }, versions] = await Promise.all([get("/v1/cache/purges", signal),
    status.configurable ? get("/v1/config/versions", signal) : { versions: [] }]);
  return [
    ...versions.versions.slice(0, 10).map((one) => ({ time: one.time, name: `version ${one.number} by ${one.by}`, href: "#configuration" })),
    ...purges.filter((one) => one.purged !== undefined).slice(0, 10).map((one) => ({ time: one.time, name: `purge of ${one.of || "all"}`, href: "#cache" })),
  ].sort((a, b) => (a.time < b.time ? 1 : -1)).slice(0, 5);
}

export async function overview(place) {
  let status = null;
  let marks = [];
  const draw = () => {
    if (!status || place.signal.aborted) return;
    const { figures, stepSeconds } = place.history;
    const requests = figures.requestsPerSecond ?? [];
    const steps = Math.min(place.history.steps, Math.max(120, requests.length));
    const hits = figures.hitsPerSecond ?? [];
    const ratios = requests.map((all, i) => (all > 0 ? hits[i] / all : 0));
    const asked = requests.slice(-60).reduce((sum, value) => sum + value, 0);
    const answered = hits.slice(-60).reduce((sum, value) => sum + value, 0);
    replace(place.main,
      answer(worst(status, figures), `Up for ${duration(status.uptimeSeconds)}, ${count(status.cache.hits + status.cache.misses)} requests since the start.`),
      h("div", { class: "grid" },
        tile("Requests", rate(last(requests)), "/s", requests, steps),
        tile("Hit ratio, last minute", asked > 0 ? percent(answered / asked) : "–", "", ratios, steps),
        tile("Failures of origins", rate(last(figures.failuresPerSecond)), "/s", figures.failuresPerSecond, steps),
        tile("Connections", count(last(figures.connections)), "", figures.connections, steps),
        tile("Memory of the cache", bytes(status.cache.usedBytes), "", figures.memoryBytes, steps),
        tile("Processors in use", last(figures.processors).toFixed(2), "", figures.processors, steps),
        card("c8", "Requests and hits per second",
          chart([{ name: "hits", values: hits }, { name: "requests", values: requests }], steps, stepSeconds, rate,
            `Requests per second lately; now ${rate(last(requests))}, of which ${rate(last(hits))} are hits.`, marks),
          copyAsCurl("/v1/series")),
        card("c4", "Where it listens",
          table([
            { name: "Address", show: (one) => h("span", { class: "mono" }, one.address) },
            { name: "Connections", number: true, show: (one) => count(one.connections) },
          ], status.listeners, "No listener."),
          copyAsCurl("/v1/status")),
        card("c6", "Upstreams",
          table([
            { name: "Upstream", show: (one) => one.name },
            { name: "Origins in", number: true, show: (one) => `${one.origins.filter((o) => o.state === "in").length} of ${one.origins.length}` },
            { name: "Under way", number: true, show: (one) => count(one.origins.reduce((sum, o) => sum + o.inFlight, 0)) },
            { name: "Failures", number: true, show: (one) => count(one.origins.reduce((sum, o) => sum + o.failures, 0)) },
          ], status.upstreams, "No upstream.")),
        card("c6", "Loops",
          table([
            { name: "Loop", show: (one) => h("span", { class: "mono" }, one.name) },
            { name: "Requests", number: true, show: (one) => count(one.requests) },
            { name: "Connections", number: true, show: (one) => count(one.connections) },
            { name: "CPU", number: true, show: (one) => `${one.cpuSeconds.toFixed(1)} s` },
          ], status.loops, "No loop."))));
  };
  addEventListener("figures", draw, { signal: place.signal });
  await place.every(2, async () => {
    status = await get("/v1/status", place.signal);
    marks = await changes(status, place.signal);
    draw();
  });
}
