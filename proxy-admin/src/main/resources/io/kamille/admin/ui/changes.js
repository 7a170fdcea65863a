/** What was changed, and when: versions of the configuration, purges, and what was set on the running process. */
import { ask, get } from "./api.js";
import { card, diffOf, h, note, replace, when } from "./dom.js";

const SET = new Map([
  ["PUT /v1/engine/loops", ["pace of the loops", "#engine"]],
  ["PUT /v1/tuning", ["tuning of send buffers", "#connections"]],
  ["PUT /v1/cache/tiers", ["peak mode", "#cache"]],
  ["PUT /v1/upstreams/{upstream}/origins/{origin}", ["change of an origin", "#origins"]],
  ["DELETE /v1/upstreams/{upstream}/origins/{origin}", ["removal of an origin", "#origins"]],
  ["POST /v1/config/trial", ["end of a trial", "#configuration"]],
]);

/** The last changes, the newest first. */
export async function changes(status, signal) {
  const [{ purges }, { versions }, { entries }] = await Promise.all([
    get("/v1/cache/purges", signal),
    status.configurable ? get("/v1/config/versions", signal) : { versions: [] },
    get("/v1/audit?limit=200", signal)]);
  return [
    ...versions.slice(0, 20).map((one) => ({ time: one.time, name: `version ${one.number} by ${one.by}`, href: "#configuration", version: one })),
    ...purges.filter((one) => one.purged !== undefined).slice(0, 20).map((one) => ({ time: one.time, name: `purge of ${one.of || "all"}`, href: "#cache" })),
    ...entries.filter((one) => one.action.endsWith(" /v1/config") && /[?&]confirm=/.test(one.target) && !/dry_run/.test(one.target) && one.outcome === "200")
      .map((one) => ({ time: one.time, name: `trial by ${one.who?.name ?? "nobody known"}`, href: "#configuration" })),
    ...entries.filter((one) => SET.has(one.action) && one.outcome.startsWith("2")).map((one) => {
      const [name, href] = SET.get(one.action);
      return { time: one.time, name: `${name} by ${one.who?.name ?? "nobody known"}`, href };
    }),
  ].sort((a, b) => (a.time < b.time ? 1 : -1));
}

/** What was changed around a moment, with the lines that differ. */
export function changedAround(place, list, time, seconds, close) {
  const near = list.filter((one) => Math.abs(new Date(one.time) - time) <= seconds * 1000);
  const said = near.map((one) => {
    const lines = h("div");
    if (one.version?.base) {
      ask(`/v1/config/diff?from=${one.version.base}&to=${one.version.number}`, { fields: { Accept: "text/x-diff" }, signal: place.signal })
        .then((found) => replace(lines, diffOf(found.text)), (problem) => replace(lines, note("bad", problem.message)));
    }
    return h("li", {}, `${when(one.time)}: `, h("a", { href: one.href }, one.name), one.version?.comment ? `: ${one.version.comment}` : "", lines);
  });
  return card("", `What changed around ${when(time)}?`,
    said.length === 0 ? h("p", { class: "empty" }, "Nothing: no version, no purge, no setting of the running process. Look at origins and clients.") : h("ul", { class: "plain" }, said),
    h("button", { type: "button", class: "plain", onclick: close }, "close"));
}
