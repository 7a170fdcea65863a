/** Who holds how much send memory, and why? */
import { ask, get } from "./api.js";
import { answer, bits, bytes, card, copyAsCurl, count, h, note, replace, table } from "./dom.js";

const POLICIES = ["off", "kernel", "equation"];

function waiting(one) {
  return one.pending.bufferedBytes + one.pending.leasedBytes + one.pending.fileBytes;
}

function sentence(found, tuning) {
  const all = Object.values(tuning.connections).reduce((sum, each) => sum + each, 0);
  if (all === 0) return "No client has been sent enough to say anything about its path.";
  const held = found.reduce((sum, one) => sum + waiting(one) + one.pending.unsentBytes, 0);
  return `${count(all)} ${all === 1 ? "connection is" : "connections are"} measured; ${held === 0 ? "nothing waits for its client" : `${bytes(held)} wait for their clients`}.`;
}

export async function connections(place) {
  const head = h("div");
  const said = h("div", { "aria-live": "polite" });
  const rows = h("div");
  const apply = async (json) => {
    try {
      await ask("/v1/tuning", { method: "PUT", json });
      replace(said, note("ok", "It holds from the next period on, until a configuration is loaded."));
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
    await look();
  };
  const policy = h("select", { name: "policy", onchange: () => apply({ policy: policy.value }) }, POLICIES.map((name) => h("option", { value: name }, name)));
  const budget = h("input", { class: "mono", name: "budget", size: 8, required: true });
  const form = h("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    return apply({ budget: budget.value });
  } }, h("label", {}, "Budget", budget), h("button", { type: "submit" }, "Apply to the running process"));
  const sort = h("select", { name: "sort", onchange: () => look() }, ["buffer", "rate", "pending"].map((name) => h("option", { value: name }, name)));
  const look = async () => {
    const [tuning, found] = await Promise.all([
      get("/v1/tuning", place.signal), get(`/v1/connections?sort=${sort.value}&limit=100`, place.signal)]);
    if (document.activeElement !== policy) policy.value = tuning.policy;
    replace(head, answer(sentence(found.connections, tuning),
      `Policy ${tuning.policy}. Kamille grants ${bytes(tuning.allocatedBytes)} of a budget of ${bytes(tuning.budgetInForceBytes)}; send buffers hold ${bytes(tuning.heldBytes)}.`));
    replace(rows, table([
      { name: "Client", show: (one) => h("span", { class: "mono nowrap" }, one.client) },
      { name: "Protocol", show: (one) => h("span", { class: "nowrap" }, one.protocol) },
      { name: "Path gives", number: true, show: (one) => bits(one.path.bytesPerSecond) },
      { name: "RTT", number: true, show: (one) => `${one.path.rttMillis.toFixed(1)} ms` },
      { name: "Needs", number: true, show: (one) => bytes(one.demandBytes) },
      { name: "Buffer", number: true, show: (one) => (one.sendBuffer.sizeBytes > 0 ? bytes(one.sendBuffer.sizeBytes) : "kernel") },
      { name: "Waits", number: true, show: (one) => bytes(waiting(one)) },
      { name: "Unsent", number: true, show: (one) => bytes(one.pending.unsentBytes) },
      { name: "Why", show: (one) => one.why },
    ], found.connections, "Connections appear here once a response is larger than what a client takes at once."));
  };
  replace(place.main, head, h("div", { class: "grid" }, card("", "Send buffers",
    h("div", { class: "row" }, h("label", {}, "Policy", policy), h("label", {}, "Sorted by", sort)), form, said, rows, copyAsCurl("/v1/connections"))));
  await place.every(2, look);
}
