/** Do the origins answer, and how fast? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, count, h, millis, note, rate, replace, table, when } from "./dom.js";

const WORDS = { in: ["ok", "in"], out: ["bad", "out"], returning: ["warn", "returning"] };

function sentence(upstreams) {
  const all = upstreams.flatMap((upstream) => upstream.origins);
  const out = all.filter((origin) => origin.state === "out");
  if (all.length === 0) return "No upstream is configured.";
  const drained = all.filter((origin) => origin.drainedUntil).map((origin) => origin.name);
  const idle = drained.length === 0 ? "" : ` ${drained.join(", ")} ${drained.length === 1 ? "is" : "are"} drained.`;
  const well = ["", "The origin answers.", "Both origins answer."][all.length] ?? `All ${all.length} origins answer.`;
  if (out.length === 0) return well + idle;
  return `${out.map((origin) => origin.name).join(", ")} ${out.length === 1 ? "is" : "are"} out; a request probes ${out.length === 1 ? "it" : "them"} now and then.${idle}`;
}

function summary(upstream) {
  const retried = upstream.retries > 0 ? `${count(upstream.retries)} were sent once more. ` : "";
  const fast = upstream.head.p99Millis > 0 ? `Half of the answers began within ${millis(upstream.head.p50Millis)}, 99\u00a0% within ${millis(upstream.head.p99Millis)}.` : "No answer yet.";
  return `${count(upstream.requests)} requests since the start; ${count(upstream.failures)} failed. ${retried}${fast}`;
}

function state(origin) {
  const [kind, word] = WORDS[origin.state] ?? ["muted", origin.state];
  return h("div", { class: "standing" }, h("span", { class: `pill ${kind}` }, word), " ",
    origin.drainedUntil ? h("span", { class: "pill warn" }, "drained") : null,
    origin.since ? h("div", { class: "muted" }, `since ${when(origin.since)}: ${origin.why}`) : null,
    origin.drainedUntil ? h("div", { class: "muted" }, `drained until ${when(origin.drainedUntil)}`) : null);
}

const FROM = { configuration: "configuration", file: "file", dns: "DNS", api: "API" };

function source(origin) {
  return h("span", {}, FROM[origin.from] ?? origin.from, origin.until ? h("div", { class: "muted" }, `until ${when(origin.until)}`) : null);
}

/** What is wrong with the lists that name origins. */
function troubles(upstream) {
  return upstream.lists.filter((list) => list.problems.length > 0).map((list) =>
    note("bad", `The ${FROM[list.kind]} ${list.place} cannot be used; its last ${count(list.origins)} origins stay. ${list.problems.slice(0, 5).join("; ")}`));
}

export async function origins(place) {
  let before = new Map();
  let since = 0;
  const head = h("div");
  const said = h("div", { "aria-live": "polite" });
  const groups = h("div", { class: "grid" });
  const lasting = h("select", { name: "for" }, [["10m", "10 min"], ["1h", "1 hour"], ["1d", "1 day"]].map(([value, words]) => h("option", { value }, words)));
  const choice = h("div", { class: "row", hidden: true }, h("label", {}, "A drain lasts", lasting), h("p", { class: "muted" }, "A drained origin gets no new request; those under way end."));
  const drain = async (upstream, origin, order) => {
    try {
      await ask(`/v1/upstreams/${upstream}/origins/${encodeURIComponent(origin)}`, { method: "PUT", json: order });
      replace(said);
      await look();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  };
  const look = async () => {
    const { upstreams } = await get("/v1/upstreams", place.signal);
    const seconds = (performance.now() - since) / 1000;
    const now = new Map(upstreams.flatMap((upstream) => upstream.origins.map((origin) => [`${upstream.name} ${origin.name}`, origin.requests])));
    const perSecond = (upstream, origin) => {
      const name = `${upstream.name} ${origin.name}`;
      return before.has(name) && seconds < 60 ? rate(Math.max(0, origin.requests - before.get(name)) / seconds) : "–";
    };
    const isChecked = upstreams.some((upstream) => upstream.origins.some((origin) => origin.check));
    replace(head, answer(sentence(upstreams), isChecked ? "Kamille learns from requests and from checks whether an origin answers." : "Kamille learns from requests whether an origin answers. It checks no origin by itself."));
    replace(groups, upstreams.map((upstream) => card("", upstream.name, h("p", {}, summary(upstream)), troubles(upstream), table([
        { name: "Origin", show: (one) => h("span", { class: "mono nowrap" }, one.name) },
        upstream.origins.some((one) => one.from !== "configuration") ? { name: "From", show: source } : null,
        { name: "State", show: state },
        isChecked ? { name: "Last check", show: (one) => (one.check ? h("span", { class: one.check.trouble ? "bad" : "ok" }, one.check.trouble || "passed") : "–") } : null,
        { name: "Requests/s", number: true, show: (one) => perSecond(upstream, one) },
        { name: "Under way", number: true, show: (one) => count(one.inFlight) },
        { name: "Requests", number: true, show: (one) => count(one.requests) },
        { name: "Failures", number: true, show: (one) => h("span", { class: one.failures > 0 ? "bad" : null }, count(one.failures)) },
        upstream.origins.length < 2 ? null : { name: "", show: (one) => (one.drainedUntil
          ? h("button", { type: "button", class: "plain", "aria-label": `End the drain of ${one.name}`, onclick: () => drain(upstream.name, one.name, { state: "in" }) }, "end drain")
          : h("button", { type: "button", class: "plain", "aria-label": `Drain ${one.name}`, onclick: () => drain(upstream.name, one.name, { state: "drain", for: lasting.value }) }, "drain")) },
      ].filter(Boolean), upstream.origins, "No origin."), copyAsCurl("/v1/upstreams", "GET", null, upstream.name))));
    before = now;
    since = performance.now();
    choice.hidden = upstreams.every((upstream) => upstream.origins.length < 2);
  };
  replace(place.main, head, said, groups, choice);
  await place.every(2, look);
}
