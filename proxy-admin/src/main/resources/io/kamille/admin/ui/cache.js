/** What is kept, why was this a miss, and how do I get rid of something? */
import { ask, get } from "./api.js";
import { answer, bytes, card, copyAsCurl, count, h, note, percent, replace, table, when } from "./dom.js";
import { explanation } from "./explanation.js";
import { warmUp } from "./warm.js";
import { whatIf } from "./whatif.js";

const PARTS = [
  ["storedBytes", "stored responses", "var(--s1)"], ["fillingBytes", "being filled", "var(--s2)"],
  ["indexBytes", "index", "var(--s3)"], ["renewingBytes", "being renewed", "var(--s4)"], ["retiredBytes", "waiting for readers", "var(--s5)"],
];

function memoryBar(memory) {
  let x = 0;
  const rects = PARTS.map(([name, label, colour]) => {
    const width = (memory[name] / memory.capacityBytes) * 600;
    const rect = h("rect", { x, y: 0, width, height: 12, fill: colour }, h("title", {}, `${label}: ${bytes(memory[name])}`));
    x += width;
    return rect;
  });
  return [
    h("div", { class: "bar" }, h("svg", { viewBox: "0 0 600 12", preserveAspectRatio: "none", role: "img",
      "aria-label": `${bytes(memory.usedBytes)} of ${bytes(memory.capacityBytes)} are used` }, rects)),
    table([
      { name: "Part", show: (part) => part[1] },
      { name: "Memory", number: true, show: (part) => bytes(memory[part[0]]) },
    ], PARTS.filter(([name]) => memory[name] > 0), "Nothing is stored."),
    h("p", {}, `The host gives it pages of ${bytes(memory.pageBytes)}.`),
  ];
}

function explainCard() {
  const url = h("input", { class: "mono", name: "url", required: true, placeholder: "http://example.org/page", size: 40 });
  const method = h("input", { class: "mono", name: "method", value: "GET", size: 6 });
  const field = h("input", { class: "mono", name: "field", placeholder: "Accept-Encoding: br", size: 24 });
  const result = h("div", { "aria-live": "polite" }, h("p", { class: "empty" }, "Give a URL as the browser has it. Nothing is sent to the origin."));
  return card("", "Why a hit, why a miss?",
    h("form", { class: "row", onsubmit: async (event) => {
      event.preventDefault();
      const query = new URLSearchParams({ url: url.value, method: method.value || "GET" });
      if (field.value) query.append("field", field.value);
      try {
        const [found, stored] = await Promise.all([get(`/v1/explain?${query}`), get(`/v1/cache/objects?${new URLSearchParams({ url: url.value })}`)]);
        replace(result, h("h2", {}, "Now"), explanation(found), h("h2", {}, "Stored"), table([
          { name: "State", show: (one) => h("span", { class: one.state === "fresh" ? "ok" : "warn" }, one.state) },
          { name: "Status", number: true, show: (one) => one.status },
          { name: "Age", number: true, show: (one) => `${one.ageSeconds} s` },
          { name: "Fresh for", number: true, show: (one) => `${one.ttlSeconds} s` },
          { name: "Hits", number: true, show: (one) => count(one.hits) },
          { name: "Size", number: true, show: (one) => bytes(one.bytes.content) },
          { name: "Tier", show: (one) => one.tier },
          { name: "Selected by", show: (one) => one.selectedBy.map((s) => `${s.field}: ${s.value ?? "–"}`).join(", ") || "–" },
        ], stored.objects, "Nothing is stored under this URL."), copyAsCurl(`/v1/explain?${query}`));
      } catch (problem) {
        replace(result, note("bad", problem.message));
      }
    } }, h("label", { class: "grow" }, "URL", url), h("label", {}, "Method", method), h("label", { class: "grow" }, "Header field", field),
    h("button", { class: "main", type: "submit" }, "Explain")), result);
}

function responses(number) {
  return `${count(number)} ${number === 1 ? "response" : "responses"}`;
}

function order(kind, what) {
  if (kind === "all") return { all: true };
  return kind === "tags" ? { tags: what.split(",").map((tag) => tag.trim()).filter(Boolean) } : { [kind]: what };
}

/** What each node of the cluster has done. */
function ticks(nodes) {
  return h("p", {}, nodes.map((one) => [h("span", { class: `pill ${one.state === "done" ? "ok" : "warn"}` },
    one.state === "done" ? `✓ ${one.node}${one.purged > 0 ? `: ${responses(one.purged)}` : ""}` : `${one.node} is away`), " "]));
}

/** What became of a purge, in words. */
function outcome(done) {
  if (done.nodes) return [h("p", {}, done.complete ? `Purge ${done.id} holds at all nodes.` : `Purge ${done.id} is in the log: ${done.safeIn ? `safe in ${done.safeIn.replace("s", "\u00a0s")} at the nodes that are away` : "nodes that are away serve what they have stored until they are back"}.`), ticks(done.nodes)];
  return done.purged === undefined ? `Purge ${done.id} holds; memory is given back as it is swept.` : `${responses(done.purged)} purged.`;
}

/** What may be purged, and how that is written. */
const EXAMPLES = { url: "http://example.org/page", prefix: "http://example.org/news/", host: "example.org", tags: "news, sport", all: "" };

function purgeCard(place, reload) {
  const what = h("input", { class: "mono", name: "what", size: 40, required: true, placeholder: EXAMPLES.url });
  const kind = h("select", { name: "kind", onchange: () => {
    what.disabled = kind.value === "all";
    what.placeholder = EXAMPLES[kind.value];
  } }, Object.keys(EXAMPLES).map((name) => h("option", { value: name }, name)));
  const mode = h("select", { name: "mode" }, h("option", { value: "hard" }, "remove"), h("option", { value: "soft" }, "make stale"));
  const result = h("div", { "aria-live": "polite" });
  const send = (content) => ask("/v1/cache/purges", { method: "POST", json: content }).then((answered) => answered.document);
  const purge = async (content) => {
    if (content.all && !confirmAll()) return;
    try {
      const done = await send(content);
      replace(result, note(done.complete === false ? "warn" : "ok", outcome(done)));
      reload();
    } catch (problem) {
      const isPartly = problem.type === "/problems/no-quorum";
      replace(result, note("bad", isPartly ? [h("p", {}, `${problem.message} The rest follows once there is a majority.`), ticks(problem.errors)] : problem.message));
    }
  };
  const confirmAll = () => prompt(`Purging everything sends every request to the origins. Type ${location.hostname} to do it.`) === location.hostname;
  const rehearse = async (event) => {
    event.preventDefault();
    const content = { ...order(kind.value, what.value), mode: mode.value };
    try {
      let counted = await send({ ...content, dry_run: true });
      for (let i = 0; i < 50 && counted.matched === undefined; i++) {
        await new Promise((later) => setTimeout(later, 100));
        const known = (await get("/v1/cache/purges")).purges.find((one) => one.id === counted.id);
        if (known?.state === "done") counted = known;
      }
      const found = counted.matched === undefined ? "more responses than could be counted in five seconds" : responses(counted.matched).replace(" ", " stored ");
      replace(result, note("warn", h("p", {}, `This is about ${found}${place.status()?.clustered ? " at this node" : ""}. Each is fetched from its origin again when it is next wanted.`),
        h("button", { type: "button", class: "main", onclick: () => purge(content) }, mode.value === "hard" ? "Remove them" : "Make them stale"),
        " ", copyAsCurl("/v1/cache/purges", "POST", content)));
    } catch (problem) {
      replace(result, note("bad", problem.message));
    }
  };
  return card("", "Purge", h("form", { class: "row", onsubmit: rehearse },
    h("label", {}, "What", kind), h("label", { class: "grow" }, "Which", what), h("label", {}, "How", mode),
    h("button", { type: "submit" }, "Rehearse")), result);
}

export async function cache(place) {
  const head = h("div");
  const memory = h("div", { class: "grid" });
  const purges = h("div");
  const forecast = whatIf(place);
  const warm = warmUp(place);
  const look = async () => {
    warm.look().catch(() => {});
    const [tiers, status, done] = await Promise.all([get("/v1/cache/tiers", place.signal), get("/v1/status", place.signal), get("/v1/cache/purges", place.signal)]);
    const { policy } = tiers.memory;
    replace(head, answer(
      status.cache.objects === 0 ? "Nothing is stored yet." : `${percent(status.cache.hitRatio)} of all requests were hits; ${count(tiers.memory.keys)} URLs are stored.`,
      `${bytes(tiers.memory.usedBytes)} of ${bytes(tiers.memory.capacityBytes)} in use; ${count(tiers.memory.evictions)} responses were evicted since the start.`));
    replace(memory,
      card("c6", "Memory", memoryBar(tiers.memory), copyAsCurl("/v1/cache/tiers")),
      card("c6", "What leaves first", h("p", {}, `Policy: ${policy.policy} (${policy.setting}): ${policy.reason}.`),
        table([
          { name: "Policy", show: (one) => one.policy },
          { name: "Hits of requests, estimated", number: true, show: (one) => percent(one.objectHitRatio) },
          { name: "of octets", number: true, show: (one) => percent(one.byteHitRatio) },
        ], policy.estimates, "No estimates yet."),
        h("p", { class: "muted" }, `From ${count(policy.sampledRequests)} sampled requests.`), copyAsCurl("/v1/cache/tiers")),
      tiers.peak ? card("", "Disk", h("p", {}, `Mode: ${tiers.peak.mode} (${tiers.peak.setting}). ${tiers.peak.reason}`), copyAsCurl("/v1/cache/tiers")) : null);
    await forecast.look({ policy: policy.policy, requestsPerSecond: place.history.figures.requestsPerSecond?.at(-1) ?? 0 });
    replace(purges, card("", "Last purges", table([
      { name: "Time", show: (one) => when(one.time) },
      { name: "Kind", show: (one) => one.kind },
      { name: "Of", show: (one) => h("span", { class: "mono" }, one.of) },
      { name: "Mode", show: (one) => one.mode },
      { name: "State", show: (one) => one.state },
      { name: "Responses", number: true, show: (one) => count(one.purged ?? one.matched ?? 0) },
      { name: "", show: (one) => (one.purged > 0 ? h("button", { type: "button", class: "plain nowrap", name: `again${one.id}`, "aria-label": `Fetch again what purge ${one.id} removed`, onclick: () => warm.again(one.id) }, "fetch again") : "") },
    ], done.purges, "No purge since the start."), copyAsCurl("/v1/cache/purges")));
  };
  replace(place.main, head, h("div", { class: "grid" }, explainCard(), purgeCard(place, look), warm.element), memory, forecast.element, purges);
  await place.every(5, look);
}
