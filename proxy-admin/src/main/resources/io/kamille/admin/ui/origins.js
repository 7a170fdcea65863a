/** Do the origins answer? */
import { get } from "./api.js";
import { answer, card, copyAsCurl, count, h, replace, table } from "./dom.js";

const WORDS = { in: ["ok", "in"], out: ["bad", "out"], returning: ["warn", "returning"] };

function sentence(upstreams) {
  const all = upstreams.flatMap((upstream) => upstream.origins);
  const out = all.filter((origin) => origin.state === "out");
  if (all.length === 0) return "No upstream is configured.";
  if (out.length === 0) return all.length === 1 ? "The origin is in." : `All ${all.length} origins are in.`;
  return `${out.map((origin) => origin.name).join(", ")} ${out.length === 1 ? "is" : "are"} out; a request probes ${out.length === 1 ? "it" : "them"} now and then.`;
}

export async function origins(place) {
  await place.every(2, async () => {
    const { upstreams } = await get("/v1/status", place.signal);
    replace(place.main, answer(sentence(upstreams)),
      h("div", { class: "grid" }, upstreams.map((upstream) => card("", upstream.name, table([
        { name: "Origin", show: (one) => h("span", { class: "mono" }, one.name) },
        { name: "State", show: (one) => { const [kind, word] = WORDS[one.state] ?? ["muted", one.state]; return h("span", { class: `pill ${kind}` }, word); } },
        { name: "Under way", number: true, show: (one) => count(one.inFlight) },
        { name: "Limit", number: true, show: (one) => (one.limit > 0 ? count(one.limit) : "none") },
        { name: "Failures since the start", number: true, show: (one) => count(one.failures) },
      ], upstream.origins, "No origin."), copyAsCurl("/v1/status")))));
  });
}
