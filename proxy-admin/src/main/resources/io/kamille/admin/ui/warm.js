/** Fetch what will be asked for, and see how far that has come. */
import { ask, get } from "./api.js";
import { card, copyAsCurl, count, h, note, replace, table } from "./dom.js";

const PATH = "/v1/cache/warm";
const EXAMPLES = { urls: "http://example.org/a http://example.org/b", purge: "812" };

function shown(progress) {
  if (progress.state === "none") return h("p", { class: "empty" }, "Nothing was warmed up since the start.");
  return [h("p", {}, h("strong", {}, `${progress.of}: ${progress.state}.`), ` ${count(progress.done)} of ${count(progress.total)} requests: ${count(progress.stored)} stored, ${count(progress.fresh)} fresh already, ${count(progress.notStored)} not stored, ${count(progress.failed)} failed, ${count(progress.skipped)} skipped.`),
  h("progress", { value: progress.done, max: Math.max(1, progress.total), "aria-label": "requests that are over" }),
  progress.troubles.length === 0 ? null : table([
    { name: "URL", show: (one) => h("span", { class: "mono" }, one.url) },
    { name: "Why it is not warm", show: (one) => one.why },
  ], progress.troubles, "")];
}

/** The card; gives a function that looks again, and one that begins with a purge. */
export function warmUp(place) {
  const what = h("input", { class: "mono", name: "warm", size: 40, required: true, placeholder: EXAMPLES.urls });
  const kind = h("select", { name: "warmKind", onchange: () => { what.placeholder = EXAMPLES[kind.value]; } },
    [["urls", "URLs"], ["purge", "what a purge removed"]].map(([value, name]) => h("option", { value }, name)));
  const rate = h("input", { type: "number", name: "rate", min: 1, max: 1000, value: 10 });
  const said = h("div", { "aria-live": "polite" });
  const body = h("div");
  const look = async () => replace(body, shown(await get(PATH, place.signal)));
  const begin = async (order) => {
    try {
      replace(body, shown((await ask(PATH, { method: "POST", json: { ...order, rate: Number(rate.value) } })).document));
      replace(said);
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  };
  const element = card("", "Warm up", h("form", { class: "row", onsubmit: (event) => {
    event.preventDefault();
    const text = what.value.trim();
    begin(kind.value === "urls" ? { urls: text.split(/\s+/) } : { purge: Number(text) });
  } }, h("label", {}, "What", kind), h("label", { class: "grow" }, "Which", what), h("label", {}, "Requests a second", rate),
  h("button", { type: "submit" }, "Start")), said, body, copyAsCurl(PATH));
  return { element, look, again: (id) => { element.scrollIntoView({ block: "nearest" }); return begin({ purge: id }); } };
}
