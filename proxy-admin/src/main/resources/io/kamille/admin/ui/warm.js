/** Fetch what will be asked for, and see how far that has come. */
import { ask, get } from "./api.js";
import { card, copyAsCurl, count, duration, h, note, replace, table } from "./dom.js";

const PATH = "/v1/cache/warm";
const EXAMPLES = { urls: "http://example.org/a http://example.org/b", sitemap: "http://example.org/sitemap.xml", purge: "812" };

function isUnderWay(progress) {
  return progress?.state === "preparing" || progress?.state === "running";
}

function bar(progress) {
  const share = progress.total === 0 ? 0 : Math.min(1, progress.done / progress.total);
  return h("div", { class: "bar" }, h("svg", { viewBox: "0 0 600 12", preserveAspectRatio: "none", role: "img",
    "aria-label": `${count(progress.done)} of ${count(progress.total)} are done` }, h("rect", { x: 0, y: 0, width: share * 600, height: 12, fill: "var(--s1)" })));
}

function shown(progress) {
  if (progress.state === "none") return h("p", { class: "empty" }, "Nothing was warmed up since the start.");
  return [h("p", {}, h("strong", {}, `${progress.of}: ${progress.state}.`), ` ${count(progress.done)} of ${count(progress.total)} requests in ${duration(progress.seconds)}: ${
    count(progress.stored)} stored, ${count(progress.fresh)} fresh already, ${count(progress.notStored)} not stored, ${count(progress.failed)} failed, ${count(progress.skipped)} skipped.`),
  bar(progress),
  progress.troubles.length === 0 ? null : table([
    { name: "URL", show: (one) => h("span", { class: "mono" }, one.url) },
    { name: "Why it is not warm", show: (one) => one.why },
  ], progress.troubles, "")];
}

/** The card; gives a function that looks again, and one that begins with a purge. */
export function warmUp(place) {
  const what = h("input", { class: "mono", name: "warm", size: 40, required: true, placeholder: EXAMPLES.urls });
  const kind = h("select", { name: "warmKind", onchange: () => { what.placeholder = EXAMPLES[kind.value]; } },
    [["urls", "URLs"], ["sitemap", "a sitemap"], ["purge", "what a purge removed"]].map(([value, name]) => h("option", { value }, name)));
  const rate = h("input", { type: "number", name: "rate", min: 1, max: 1000, value: 10 });
  const said = h("div", { "aria-live": "polite" });
  const body = h("div");
  const stop = h("button", { type: "button", hidden: true, onclick: () => send("DELETE") }, "Stop");
  const draw = (progress) => {
    stop.hidden = !isUnderWay(progress);
    replace(body, shown(progress));
  };
  const look = async () => {
    for (let isFirst = true, progress = null; isFirst || (isUnderWay(progress) && !place.signal.aborted && body.isConnected); isFirst = false) {
      if (!isFirst) await new Promise((later) => setTimeout(later, 1000));
      progress = await get(PATH, place.signal);
      draw(progress);
    }
  };
  let isLooking = false;
  const follow = async () => {
    if (isLooking) return;
    isLooking = true;
    try {
      await look();
    } finally {
      isLooking = false;
    }
  };
  const send = async (method, order) => {
    try {
      draw((await ask(PATH, { method, json: order })).document);
      replace(said);
      await follow();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  };
  const begin = (order) => send("POST", { ...order, rate: Number(rate.value) });
  const element = card("", "Warm up", h("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    const text = what.value.trim();
    begin(kind.value === "urls" ? { urls: text.split(/\s+/) } : kind.value === "purge" ? { purge: Number(text) } : { sitemap: text });
  } }, h("label", {}, "What", kind), h("label", { class: "grow" }, "Which", what), h("label", {}, "Requests a second", rate),
  h("button", { type: "submit" }, "Start"), stop), said, body, copyAsCurl(PATH));
  return { element, follow, again: (id) => { element.scrollIntoView({ block: "nearest" }); return begin({ purge: id }); } };
}
