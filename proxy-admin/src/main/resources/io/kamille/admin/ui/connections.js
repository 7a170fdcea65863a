/** Who holds how much send memory, and why? */
import { Problem, ask, get } from "./api.js";
import { answer, bytes, card, copyAsCurl, count, h, note, replace, table } from "./dom.js";

export async function connections(place) {
  let sort = "buffer";
  const look = async () => {
    let tuning;
    let found;
    try {
      [tuning, found] = await Promise.all([get("/v1/tuning", place.signal), get(`/v1/connections?sort=${sort}&limit=100`, place.signal)]);
    } catch (problem) {
      if (problem instanceof Problem && problem.status === 404) {
        replace(place.main, answer("Send buffers are the kernel's business."), h("p", { class: "empty" }, "This build has no tuner of send buffers."));
        return;
      }
      throw problem;
    }
    const policies = ["off", "kernel", "equal", "window", "equation"];
    const choice = h("select", { name: "policy", onchange: async (event) => {
      try {
        await ask("/v1/tuning", { method: "PUT", json: { policy: event.target.value } });
        await look();
      } catch (problem) {
        place.main.append(note("bad", problem.message));
      }
    } }, policies.map((name) => h("option", { value: name, selected: name === tuning.policy }, name)));
    replace(place.main,
      answer(`${count(found.connections.length)} connections are looked at; policy ${tuning.policy}.`,
        tuning.budgetBytes ? `${bytes(tuning.allocatedBytes ?? 0)} of ${bytes(tuning.budgetBytes)} are given out.` : null),
      h("div", { class: "grid" }, card("", "Send buffers",
        h("div", { class: "row" }, h("label", {}, "Policy", choice),
          h("label", {}, "Sorted by", h("select", { name: "sort", onchange: (event) => { sort = event.target.value; look(); } },
            ["buffer", "rate", "pending"].map((name) => h("option", { value: name, selected: name === sort }, name))))),
        table([
          { name: "Client", show: (one) => h("span", { class: "mono" }, one.client) },
          { name: "Rate", number: true, show: (one) => `${bytes(one.rateBytesPerSecond ?? one.rate ?? 0)}/s` },
          { name: "RTT", number: true, show: (one) => `${((one.rttMicros ?? 0) / 1000).toFixed(1)} ms` },
          { name: "Demand", number: true, show: (one) => bytes(one.demandBytes ?? one.demand ?? 0) },
          { name: "Buffer", number: true, show: (one) => bytes(one.bufferBytes ?? one.allocationBytes ?? 0) },
          { name: "Pending", number: true, show: (one) => bytes(one.pendingBytes ?? 0) },
          { name: "Why", show: (one) => one.why ?? one.reason ?? "" },
        ], found.connections, "No client has been sent enough to estimate anything."),
        copyAsCurl(`/v1/connections?sort=${sort}`))));
  };
  await place.every(2, look);
}
