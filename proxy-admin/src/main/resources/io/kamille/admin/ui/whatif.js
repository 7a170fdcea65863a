/** What would other memory, or the other policy, bring? */
import { ask, get } from "./api.js";
import { bytes, card, copyAsCurl, count, duration, h, note, percent, rate, replace } from "./dom.js";

const FACTORS = [0.25, 0.5, 1, 2, 4];
const NAMES = ["¼", "½", "1", "2", "4"];
const WIDTH = 320;
const HEIGHT = 132;
const POLICIES = [["tinylfu", "W-TinyLFU", "1"], ["lru", "LRU", "2"]];

function of(found, policy, factor) {
  return found.estimates.find((one) => one.policy === policy && one.factor === factor);
}

/** Hit ratio over memory: a line for each policy, and a mark at what is looked at. */
function plot(found, chosen) {
  const x = (i) => 40 + i * ((WIDTH - 56) / (FACTORS.length - 1));
  const y = (ratio) => 8 + (1 - ratio) * (HEIGHT - 32);
  const sentence = POLICIES.map(([policy, name]) =>
    `${name}: ${FACTORS.map((factor, i) => `${percent(of(found, policy, factor).objectHitRatio)} with ${NAMES[i]} ×`).join(", ")}.`).join(" ");
  return h("figure", { class: "chart" },
    h("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": sentence },
      [0, 0.5, 1].map((share) => [h("line", { class: "axis", x1: 40, x2: WIDTH, y1: y(share), y2: y(share) }),
        h("text", { x: 34, y: y(share) + 4, "text-anchor": "end" }, `${share * 100} %`)]),
      h("line", { class: "mark", x1: x(chosen), x2: x(chosen), y1: y(1), y2: y(0) }),
      FACTORS.map((_, i) => h("text", { x: x(i), y: HEIGHT - 6, "text-anchor": "middle" }, `${NAMES[i]} ×`)),
      POLICIES.map(([policy, , number]) => [
        h("polyline", { class: `l${number}`, points: FACTORS.map((factor, i) => `${x(i)},${y(of(found, policy, factor).objectHitRatio).toFixed(1)}`).join(" ") }),
        FACTORS.map((factor, i) => h("circle", { class: `s${number}`, r: 3, cx: x(i), cy: y(of(found, policy, factor).objectHitRatio).toFixed(1) }))])),
    h("figcaption", { class: "legend" }, POLICIES.map(([, name, number]) => h("span", {}, h("i", { class: `k${number}` }), name))));
}

/** What the chosen size would bring, against the size and the policy there are now. */
function verdict(found, policy, factor, requestsPerSecond) {
  const one = of(found, policy, factor);
  const now = of(found, policy, 1);
  const points = (one.objectHitRatio - now.objectHitRatio) * 100;
  const other = POLICIES.find(([name]) => name !== policy)[0];
  const otherPoints = (of(found, other, factor).objectHitRatio - one.objectHitRatio) * 100;
  const saved = Math.abs(points / 100 * requestsPerSecond);
  const isSame = Math.abs(points) < 2 * 100 * Math.max(one.error, now.error);
  const effect = factor === 1 ? "This is the memory there is." : isSame
    ? `No difference that these requests could tell from the memory there is.`
    : `${Math.abs(points).toFixed(1)} points ${points > 0 ? "more" : "less"} than the memory there is: ${rate(saved)} requests/s ${points > 0 ? "fewer" : "more"} for the origins now.`;
  return h("div", { "aria-live": "polite" },
    h("p", {}, h("strong", {}, `${bytes(one.capacityBytes)} would hit ${percent(one.objectHitRatio)}`), ` ± ${(one.error * 100).toFixed(1)} points of the requests, ${percent(one.byteHitRatio)} of the octets. `, effect),
    Math.abs(otherPoints) < 0.3 ? null : h("p", {}, `${POLICIES.find(([name]) => name === other)[1]} would hit ${Math.abs(otherPoints).toFixed(1)} points ${otherPoints > 0 ? "more" : "less"}.`),
    one.filled < 0.9 ? h("p", { class: "muted" }, `This size is ${percent(one.filled)} full: it has evicted little so far, and may not be telling the whole yet.`) : null);
}

/** The card; gives a function that looks again. */
export function whatIf(place) {
  let chosen = 2;
  let found = null;
  let context = { policy: "tinylfu", requestsPerSecond: 0 };
  const body = h("div");
  const said = h("div");
  const minutes = h("select", { name: "minutes" }, [1, 10, 60].map((value) => h("option", { value, selected: value === 10 }, `${value} min`)));
  const slider = h("input", { type: "range", name: "memory", min: 0, max: 4, step: 1, value: 2, oninput: () => { chosen = Number(slider.value); draw(); } });
  const button = h("button", { type: "button", onclick: async () => {
    try {
      found = found?.open ? (await ask("/v1/cache/what-if", { method: "DELETE" })).document
        : (await ask("/v1/cache/what-if", { method: "POST", json: { minutes: Number(minutes.value) } })).document;
      replace(said);
      draw();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  } }, "Watch");
  const track = h("label", { class: "grow", hidden: true }, "Memory", slider);
  const draw = () => {
    button.textContent = found?.open ? "Stop" : found?.since ? "Watch again" : "Watch";
    slider.setAttribute("aria-valuetext", `${NAMES[chosen]} times the memory`);
    track.hidden = !found?.since;
    const requests = found?.estimates[0]?.requests ?? 0;
    replace(body, !found?.since
      ? h("p", { class: "empty" }, "Watch for a while: Kamille counts what a quarter to four times the memory would hit with the same requests.")
      : requests === 0 ? h("p", { class: "empty" }, "No sampled request came yet.")
        : [h("div", { class: "beside" }, plot(found, chosen), verdict(found, context.policy, FACTORS[chosen], context.requestsPerSecond)),
          h("p", { class: "muted" }, `From ${count(requests)} sampled requests, ${found.sampledShare === 1 ? "of all keys" : `one key of ${count(1 / found.sampledShare)}`}. ${
            found.open ? `Watching ends in ${duration(Math.max(0, (new Date(found.until) - Date.now()) / 1000))}.` : "Watching is over."}`)]);
  };
  const element = card("", "What would other memory bring?",
    h("div", { class: "row" }, track, h("label", {}, "For", minutes), button), said, body, copyAsCurl("/v1/cache/what-if"));
  const look = async (next) => {
    context = next;
    found = await get("/v1/cache/what-if", place.signal);
    draw();
  };
  return { element, look };
}
