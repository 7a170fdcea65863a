/** How do the loops turn, and why at this interval? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, count, duration, h, micros, note, percent, rate, replace, table } from "./dom.js";

/** Why an interval is what it is (docs/engine.md), in words. */
const REASONS = {
  "light-load": "No pause: the load is so light that a pause would only add latency.",
  "trying": "A trial goes on: some milliseconds with each interval, and some without.",
  "saves": "The interval that saved the most CPU time in the last trial.",
  "saves-too-little": "No pause: the last trial did not show that pauses save enough CPU time.",
  "other-load": "No pause: the load is another one than in the last trial. The next trial comes soon.",
  "closed-loop": "No pause: in the last trial fewer requests came with pauses. Clients wait for answers before they ask again.",
  "off": "No pause: pacing is off.",
  "fixed": "The interval is fixed by the setting.",
};

/** What the last trial of pauses found. */
function judged(loop) {
  const found = loop.judgement;
  if (!found) return "Pauses were not tried yet.";
  return `Pauses of ${micros(found.intervalMicros)} save ${percent(found.saving)} ± ${percent(found.uncertainty)} of CPU time and cost ${micros(found.waitMicros)} at the median, judged ${duration(found.ageSeconds)} ago: ${found.allowsPauses ? "allowed" : "not allowed"}.`;
}

/** Turns are measured while a loop pauses. */
function measured(value) {
  return value > 0 ? micros(value) : "–";
}

const ROWS = [
  ["Interval", (loop) => (loop.intervalMicros > 0 ? micros(loop.intervalMicros) : "none")],
  ["Polls per second", (loop) => rate(loop.pollsPerSecond)],
  ["Events per poll", (loop) => loop.eventsPerPoll.toFixed(1)],
  ["Utilisation", (loop) => percent(loop.utilisation)],
  ["A turn takes, p50", (loop) => measured(loop.turns.p50Micros)],
  ["A turn takes, p99", (loop) => measured(loop.turns.p99Micros)],
  ["Paused in all", (loop) => `${loop.pauseSeconds.toFixed(1)} s`],
  ["Spins that paid", (loop) => (loop.spins > 0 ? `${count(loop.paidSpins)} of ${count(loop.spins)}` : "–")],
  ["Stalls", (loop) => count(loop.stalls)],
  ["Requests shed now", (loop) => percent(loop.shedShare)],
];

/** How long turns took, as bars on a scale of powers of two. */
function turns(loop) {
  const { buckets } = loop.turns;
  if (buckets.length === 0) return h("p", { class: "empty" }, "No turn was measured: turns are measured while the loop pauses.");
  const greatest = Math.max(...buckets.map((one) => one.count));
  const width = 600 / buckets.length;
  const most = buckets.find((one) => one.count === greatest);
  return h("figure", { class: "chart" },
    h("svg", { viewBox: "0 0 600 48", preserveAspectRatio: "none", role: "img", height: 48,
      "aria-label": `Most turns take up to ${micros(most.upToMicros)}; the longest seen took up to ${micros(buckets.at(-1).upToMicros)}.` },
    buckets.map((one, i) => {
      const tall = Math.max(1, (one.count / greatest) * 46);
      return h("rect", { class: "s1", x: i * width + 1, y: 48 - tall, width: Math.max(1, width - 2), height: tall },
        h("title", {}, `up to ${micros(one.upToMicros)}: ${count(one.count)}`));
    })),
    h("figcaption", { class: "legend" }, h("span", {}, `turns from ${micros(buckets[0].upToMicros)} to ${micros(buckets.at(-1).upToMicros)}`)));
}

export async function engine(place) {
  const head = h("div");
  const loops = h("div", { class: "grid" });
  const pacing = h("input", { class: "mono", name: "pacing", size: 10 });
  const spin = h("input", { class: "mono", name: "spin", size: 10 });
  const said = h("div", { "aria-live": "polite" });
  let isEdited = false;
  for (const field of [pacing, spin]) field.addEventListener("input", () => { isEdited = true; });
  const look = async () => {
    const found = await get("/v1/engine/loops", place.signal);
    if (!isEdited) { pacing.value = found.pacing; spin.value = found.spin; }
    const paused = found.loops.filter((loop) => loop.intervalMicros > 0).length;
    replace(head, answer(paused === 0 ? "No loop pauses: each polls as soon as it can." : `${paused} of ${found.loops.length} loops pause between polls.`,
      `Pacing is ${found.pacing}, within a latency budget of 500us; pauses must save a tenth of the CPU time.`));
    replace(loops,
      card("", "Loops", table([{ name: "", show: (row) => row[0] },
        ...found.loops.map((loop) => ({ name: loop.name, number: true, show: (row) => row[1](loop) }))], ROWS, ""),
      copyAsCurl("/v1/engine/loops")),
      found.loops.map((loop) => card("c6", loop.name, h("p", {}, REASONS[loop.reason] ?? loop.reason), h("p", { class: "muted" }, judged(loop)), turns(loop), copyAsCurl("/v1/engine/loops"))));
  };
  const form = h("form", { class: "row", onsubmit: async (event) => {
    event.preventDefault();
    try {
      await ask("/v1/engine/loops", { method: "PUT", json: { pacing: pacing.value, spin: spin.value } });
      isEdited = false;
      replace(said, note("ok", "The loops pace themselves so from their next turn on, until a configuration is loaded."));
      await look();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  } }, h("label", {}, "Pacing", pacing), h("label", {}, "Spin", spin), h("button", { type: "submit" }, "Apply to the running process"));
  replace(place.main, head, loops, card("", "Pace", h("p", { class: "muted" }, "adaptive, off, or a fixed interval such as 500us."), form, said));
  await place.every(2, look);
}
