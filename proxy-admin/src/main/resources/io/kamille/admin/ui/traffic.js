/** What was asked lately, and why was that a miss? */
import { ask, get } from "./api.js";
import { answer, bytes, card, copyAsCurl, count, duration, h, millis, note, percent, replace, table, when } from "./dom.js";
import { explanation } from "./explanation.js";
import { pathOf } from "./path.js";

const HITS = new Set(["hit", "stale-hit", "revalidated"]);
const RESULTS = ["", "hit", "stale-hit", "revalidated", "collapsed", "miss", "bypass", "none"];
const STATUSES = ["", "2xx", "3xx", "4xx", "5xx"];
const TOPS = [["urls", "URLs"], ["misses", "Misses"], ["tags", "Tags of hits"], ["clients", "Clients"]];

function kind(status) {
  return status >= 500 || status === 0 ? "bad" : status >= 400 ? "warn" : "";
}

function sentence(list) {
  if (list.length === 0) return "No request fits, or none came yet.";
  const hits = list.filter((one) => HITS.has(one.cache)).length;
  const failed = list.filter((one) => one.status >= 500).length;
  const tail = failed === 0 ? "none failed." : `${count(failed)} failed.`;
  return `${percent(hits / list.length)} of the last ${count(list.length)} sampled requests were hits; ${tail}`;
}

/** The sampled durations of each route, the shortest first. */
function durations(list) {
  const all = new Map();
  for (const one of list) all.set(one.route, [...(all.get(one.route) ?? []), one.millis]);
  all.forEach((times) => times.sort((a, b) => a - b));
  return all;
}

/** The time that the share of them does not exceed. */
function quantile(times, share) {
  return times ? millis(times[Math.ceil(times.length * share) - 1]) : "–";
}

function ago(time) {
  const seconds = (Date.now() - new Date(time)) / 1000;
  return seconds < 2 ? "now" : `${duration(seconds)} ago`;
}

export async function traffic(place) {
  let isPaused = false;
  let isLong = false;
  let list = [];
  let traces = [];
  let routes = [];
  const head = h("div");
  const rows = h("div");
  const byRoute = h("div");
  const recorded = h("div");
  const most = h("div");
  const drawer = h("div", { class: "drawer", "aria-live": "polite" });
  const filters = {
    url: h("input", { class: "mono", name: "filter", size: 24, placeholder: "a part of the URL" }),
    status: h("select", { name: "status" }, STATUSES.map((one) => h("option", { value: one }, one || "any"))),
    cache: h("select", { name: "cache" }, RESULTS.map((one) => h("option", { value: one }, one || "any"))),
    minMillis: h("select", { name: "minMillis" }, ["", "1", "10", "100", "1000"].map((one) => h("option", { value: one }, one ? `${one} ms` : "any"))),
  };
  const query = () => {
    const parameters = new URLSearchParams({ limit: "200" });
    for (const [name, field] of Object.entries(filters)) if (field.value) parameters.set(name, field.value);
    return `/v1/requests?${parameters}`;
  };
  const show = async (trace, target) => {
    try {
      replace(target, h("h2", {}, "Path"), pathOf(await get(`/v1/traces/${trace}`, place.signal)));
    } catch (problem) {
      replace(target, h("h2", {}, "Path"), note("bad", problem.message));
    }
  };
  /** Records the next request for a URL, and shows its way. */
  const record = async (url, target) => {
    const order = { url, count: 1, seconds: 60 };
    try {
      const before = new Set((await get("/v1/traces", place.signal)).traces.map((one) => one.trace));
      await ask("/v1/traces", { method: "POST", json: order });
      replace(target, h("h2", {}, "Path"), h("p", { class: "empty" }, `Waiting for the next request for ${url} …`), copyAsCurl("/v1/traces", "POST", order));
      for (let i = 0; i < 60 && !place.signal.aborted && target.isConnected; i++) {
        await new Promise((later) => setTimeout(later, 1000));
        const found = (await get("/v1/traces", place.signal)).traces.find((one) => one.cause === "asked" && !before.has(one.trace));
        if (found) return await show(found.trace, target);
      }
      if (target.isConnected) replace(target, h("h2", {}, "Path"), h("p", { class: "empty" }, "Nobody asked for it within a minute."), recordButton(url, target));
    } catch (problem) {
      replace(target, h("h2", {}, "Path"), note("bad", problem.message), recordButton(url, target));
    }
  };
  const recordButton = (url, target) => h("button", { type: "button", onclick: () => record(url, target) }, "Record the next one");
  const open = (title, ...content) => {
    replace(drawer, card("", title, ...content, " ", h("button", { type: "button", class: "plain", onclick: () => replace(drawer) }, "close")));
    drawer.scrollIntoView({ block: "nearest" });
  };
  const why = async (one) => {
    const url = one.query ? `${one.url}?${one.query}` : one.url;
    const asked = `/v1/explain?${new URLSearchParams({ url, method: one.method })}`;
    const then = h("div", {}, h("h2", {}, "Then"),
      h("p", {}, h("strong", {}, one.cache), `: ${one.status || "no answer"} in ${millis(one.millis)} at ${when(one.time)}`,
        one.origin ? `, from ${one.origin}` : ", no origin was asked", one.failure ? `, failure ${one.failure}` : "",
        `, by route ${one.route || "none"}, to ${one.client}.`));
    const now = h("div", {}, h("h2", {}, "Now"), h("p", { class: "empty" }, "Loading …"));
    const path = h("div", { class: "card" }, h("h2", {}, "Path"),
      h("p", { class: "empty" }, "This request was not recorded step by step."));
    path.append(recordButton(one.url, path));
    open(`${one.method} ${url}`, h("div", { class: "grid" }, h("div", { class: "card c6" }, then), h("div", { class: "card c6" }, now), path), copyAsCurl(asked));
    if (one.trace) show(one.trace, path);
    try {
      replace(now, h("h2", {}, "Now"), explanation(await get(asked, place.signal)));
    } catch (problem) {
      replace(now, h("h2", {}, "Now"), note("bad", problem.message));
    }
  };
  const draw = (perSecond) => {
    replace(head, answer(sentence(list), `Up to ${perSecond} requests a second of each loop are kept, and as many that failed.`));
    replace(rows, table([
      { name: "Time", show: (one) => h("span", { class: "nowrap" }, when(one.time)) },
      { name: "Request", show: (one) => h("span", { class: "mono" }, `${one.method} ${one.url}${one.query ? `?${one.query}` : ""}`) },
      { name: "Status", number: true, show: (one) => h("span", { class: kind(one.status) }, one.status || "left") },
      { name: "Cache", show: (one) => h("span", { class: "nowrap" }, one.cache) },
      { name: "Took", number: true, show: (one) => millis(one.millis) },
      { name: "Size", number: true, show: (one) => bytes(one.contentBytes) },
      { name: "", show: (one) => h("button", { type: "button", class: "plain nowrap", name: one.id, onclick: () => why(one),
        "aria-label": `Why ${one.cache} for ${one.url}` }, "why?") },
    ], list.slice(0, isLong ? 200 : 25), "Requests appear here as soon as somebody asks for something."),
      list.length > 25 ? h("button", { type: "button", class: "plain", name: "long", onclick: () => { isLong = !isLong; draw(perSecond); } }, isLong ? "Show fewer" : `Show all ${count(list.length)}`) : null);
    replace(recorded, traces.length === 0 ? null : card("", "Recorded step by step", table([
      { name: "Time", show: (one) => h("span", { class: "nowrap" }, when(one.time)) },
      { name: "Request", show: (one) => h("span", { class: "mono" }, `${one.method} ${one.url}`) },
      { name: "Status", number: true, show: (one) => h("span", { class: kind(one.status) }, one.status || "left") },
      { name: "Cache", show: (one) => one.cache },
      { name: "Took", number: true, show: (one) => millis(one.millis) },
      { name: "", show: (one) => h("button", { type: "button", class: "plain", name: `p${one.trace}`, "aria-label": `Path of ${one.url}`, onclick: () => {
        const target = h("div");
        open(`${one.method} ${one.url}`, target);
        show(one.trace, target);
      } }, "path") },
    ], traces.slice(0, 20), ""), copyAsCurl("/v1/traces")));
    const idle = routes.filter((one) => one.requests === 0).length;
    const times = durations(list);
    replace(byRoute, card("", "Routes",
      idle === 0 ? null : h("p", { class: "muted" }, idle === 1 ? "One route was never asked for since the start." : `${count(idle)} routes were never asked for since the start.`),
      table([
        { name: "Route", show: (one) => h("span", { class: "mono" }, one.name) },
        { name: "Upstream", show: (one) => one.upstream },
        { name: "Requests", number: true, show: (one) => count(one.requests) },
        { name: "Hits", number: true, show: (one) => (!one.cached ? "no cache" : one.requests === 0 ? "–" : percent(one.hits / one.requests)) },
        { name: "5xx", number: true, show: (one) => h("span", { class: one.failures > 0 ? "bad" : null }, count(one.failures)) },
        { name: "Median", number: true, show: (one) => quantile(times.get(one.name), 0.5) },
        { name: "p99", number: true, show: (one) => quantile(times.get(one.name), 0.99) },
        { name: "Last asked", number: true, show: (one) => (one.lastRequest ? ago(one.lastRequest) : "never") },
      ], routes, "No route is configured."),
      h("p", { class: "muted" }, "Requests, hits and 5xx count since the start. Median and p99 are of the sampled requests."), copyAsCurl("/v1/routes")));
  };
  const drawTop = (top) => replace(most, card("", "Most asked for",
    h("div", { class: "beside" }, TOPS.map(([name, title]) => h("div", {}, h("h3", {}, title), table([
      { name: title, show: (one) => h("span", { class: "mono" }, one.name) },
      { name: "Requests", number: true, show: (one) => count(one.count) },
    ], top[name], "Nothing yet.")))),
    h("p", { class: "muted" }, "Estimates of the last minutes. Older requests weigh less."), copyAsCurl("/v1/top")));
  const look = async () => {
    if (isPaused) return;
    const [found, kept, known, top] = await Promise.all([
      get(query(), place.signal), get("/v1/traces?limit=20", place.signal), get("/v1/routes", place.signal), get("/v1/top?limit=10", place.signal)]);
    drawTop(top);
    list = found.requests;
    traces = kept.traces;
    routes = [...known.routes].sort((a, b) => b.requests - a.requests);
    draw(found.samplesPerSecond);
  };
  const pause = h("button", { type: "button", "aria-pressed": "false", onclick: () => {
    isPaused = !isPaused;
    pause.setAttribute("aria-pressed", String(isPaused));
    pause.textContent = isPaused ? "Go on" : "Pause";
  } }, "Pause");
  const again = () => { look().catch((problem) => replace(rows, note("bad", problem.message))); };
  for (const field of Object.values(filters)) field.addEventListener("change", again);
  replace(place.main, head, drawer,
    card("", "Requests", h("form", { class: "row", onsubmit: (event) => { event.preventDefault(); again(); } },
      h("label", { class: "grow" }, "URL has", filters.url), h("label", {}, "Status", filters.status),
      h("label", {}, "Cache", filters.cache), h("label", {}, "Slower than", filters.minMillis), pause), rows, copyAsCurl("/v1/requests")),
    byRoute, most, recorded);
  await place.every(2, look);
}
