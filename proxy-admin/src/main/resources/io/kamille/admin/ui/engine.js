/** How do the loops turn, and why at this interval? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, count, h, note, percent, replace, table } from "./dom.js";

/** The law's reasons (docs/engine.md), in words. */
const REASONS = {
  "light-load": "It does not pause: the load is so light that pausing would only add latency.",
  "off": "It does not pause: pacing is off.",
  "fixed": "It keeps the interval that is set.",
};

function value(loop, ...names) {
  for (const name of names) if (loop[name] !== undefined) return loop[name];
  return undefined;
}

function micros(number) {
  return number === undefined || number === null ? "–" : `${count(number)} µs`;
}

export async function engine(place) {
  const head = h("div");
  const loops = h("div", { class: "grid" });
  const pacing = h("input", { class: "mono", name: "pacing", size: 10 });
  const budget = h("input", { class: "mono", name: "latencyBudget", size: 10 });
  const spin = h("input", { class: "mono", name: "spin", size: 10 });
  const said = h("div", { "aria-live": "polite" });
  let isEdited = false;
  for (const field of [pacing, budget, spin]) field.addEventListener("input", () => { isEdited = true; });
  const look = async () => {
    const found = await get("/v1/engine/loops", place.signal);
    if (!isEdited) { pacing.value = found.pacing; budget.value = found.latencyBudget; spin.value = found.spin; }
    const paused = found.loops.filter((loop) => (value(loop, "intervalMicros", "interval") ?? 0) > 0).length;
    replace(head, answer(paused === 0 ? "No loop pauses: each polls as soon as it can." : `${paused} of ${found.loops.length} loops pause between polls.`,
      `Pacing is ${found.pacing}, within a latency budget of ${found.latencyBudget}.`));
    const names = Object.keys(found.loops[0] ?? {}).filter((name) => !["name", "reason"].includes(name) && typeof found.loops[0][name] !== "object");
    replace(loops, found.loops.map((loop) => card("c6", loop.name,
      h("p", {}, REASONS[loop.reason] ?? loop.reason ?? ""),
      h("table", {}, h("tbody", {}, names.map((name) => h("tr", {}, h("td", {}, words(name)), h("td", { class: "n" }, show(name, loop[name])))))),
      copyAsCurl("/v1/engine/loops"))));
  };
  const form = h("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    try {
      await ask("/v1/engine/loops", { method: "PUT", json: { pacing: pacing.value, latencyBudget: budget.value, spin: spin.value } });
      isEdited = false;
      replace(said, note("ok", "The loops pace themselves so from their next turn on, until a configuration is loaded."));
      await look();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  } }, h("label", {}, "Pacing", pacing), h("label", {}, "Latency budget", budget), h("label", {}, "Spin", spin), h("button", { type: "submit" }, "Apply to the running process"));
  replace(place.main, head, card("", "Pace", h("p", { class: "muted" }, "adaptive, off, or a fixed interval such as 500us."), form, said), h("p"), loops);
  await place.every(2, look);
}

function words(name) {
  return name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`).replace(/ (micros|seconds|millis)$/, "");
}

function show(name, given) {
  if (typeof given !== "number") return String(given);
  if (/Micros$/.test(name)) return micros(given);
  if (/(utili[sz]ation|share|ratio)/i.test(name)) return percent(given);
  return Number.isInteger(given) ? count(given) : given.toFixed(2);
}
