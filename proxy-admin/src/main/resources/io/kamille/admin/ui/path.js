/** The way of one request through the stations, as a waterfall. */
import { bytes, copyAsCurl, h, millis, table } from "./dom.js";

const WORDS = {
  "route": "route found", "auth": "client checked", "lookup": "looked up", "disk": "disk", "decision": "decided", "collapse": "requests for one key",
  "origin": "origin chosen", "send": "sent to the origin", "failed-attempt": "attempt failed", "response": "head from the origin",
  "store": "storing", "response-end": "end from the origin", "end": "answered",
};
const CAUSES = { asked: "somebody asked for it", ratio: "it is one of the sampled share", parent: "a trusted client records it, too" };

/** Milliseconds that an origin was waited for: from each choice to the head of the response, or its failure. */
function waited(steps) {
  let since = null;
  let sum = 0;
  for (const one of steps) {
    if (one.step === "origin") since = one.atMillis;
    if (since !== null && (one.step === "response" || one.step === "failed-attempt")) {
      sum += one.atMillis - since;
      since = null;
    }
  }
  return sum;
}

function bar(from, to, whole, isOrigin) {
  const x = (from / whole) * 240;
  return h("svg", { class: "span", viewBox: "0 0 240 12", preserveAspectRatio: "none", "aria-hidden": "true" },
    h("rect", { class: "track", x: 0, y: 5, width: 240, height: 2 }),
    h("rect", { class: isOrigin ? "s2" : "s1", x: Math.min(x, 238), y: 1, width: Math.max(2, ((to - from) / whole) * 240), height: 10 }));
}

function exchange(one) {
  const whole = Math.max(one.millis, 0.001);
  const steps = [...one.steps, { step: "end", atMillis: one.millis, detail: `${one.status || "the client left"}, ${bytes(one.contentBytes)}` }];
  const atOrigin = waited(one.steps);
  const rows = steps.map((step, i) => ({ ...step, until: steps[i + 1]?.atMillis ?? step.atMillis }));
  let isAtOrigin = false;
  for (const row of rows) {
    if (row.step === "origin") isAtOrigin = true;
    if (row.step === "response" || row.step === "failed-attempt") isAtOrigin = false;
    row.isAtOrigin = isAtOrigin;
  }
  return h("div", {},
    h("p", {}, h("strong", {}, `${millis(one.millis)}: `),
      atOrigin > 0 ? `${millis(atOrigin)} of it waiting for ${one.origin}.` : "no origin was waited for.",
      h("span", { class: "muted" }, ` Recorded because ${CAUSES[one.cause] ?? one.cause}.`)),
    table([
      { name: "At", number: true, show: (row) => millis(row.atMillis) },
      { name: "Step", show: (row) => h("span", { class: row.step === "failed-attempt" ? "bad nowrap" : "nowrap" }, WORDS[row.step] ?? row.step) },
      { name: "Until the next step", show: (row) => bar(row.atMillis, row.until, whole, row.isAtOrigin) },
      { name: "Took", number: true, show: (row) => (row.step === "end" ? "" : millis(row.until - row.atMillis)) },
      { name: "What", show: (row) => h("span", { class: "mono" }, row.detail) },
    ], rows, ""),
    h("p", { class: "muted" }, "Trace ", h("code", {}, one.trace), one.parent ? [", parent span ", h("code", {}, one.parent)] : "", "."));
}

/** All exchanges of a trace. */
export function pathOf(found) {
  return h("div", { class: "path" }, found.exchanges.map((one) => exchange({ ...one, trace: found.trace })), copyAsCurl(`/v1/traces/${found.trace}`));
}
