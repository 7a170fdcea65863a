/** What runs, what would change, and how to go back? */
import { Problem, ask, get } from "./api.js";
import { answer, card, copyAsCurl, h, note, replace, table } from "./dom.js";

function problems(problem) {
  return note("bad", h("p", {}, problem.message), problem.errors.length === 0 ? null : h("ul", {}, problem.errors.map((one) =>
    h("li", {}, one.line ? `Line ${one.line}: ` : "", one.pointer ? h("code", {}, one.pointer) : "", one.found ? ` found ${one.found}` : "",
      one.expected ? `, expected ${one.expected}` : "", one.nearest ? `. Did you mean ${one.nearest}?` : ""))));
}

function changes(list) {
  return table([
    { name: "Setting", show: (one) => h("code", {}, one.path) },
    { name: "Before", show: (one) => h("span", { class: "bad" }, text(one.before)) },
    { name: "After", show: (one) => h("span", { class: "ok" }, text(one.after)) },
    { name: "Applies", show: (one) => (one.needsRestart ? h("span", { class: "warn" }, "on restart") : "at once") },
  ], list ?? [], "No setting changes.");
}

function text(value) {
  return value === null || value === undefined ? "–" : typeof value === "string" ? value : JSON.stringify(value);
}

export async function configuration(place) {
  let running;
  try {
    running = await ask("/v1/config", { fields: { Accept: "application/yaml" }, signal: place.signal });
  } catch (problem) {
    if (problem instanceof Problem && problem.status === 404) {
      replace(place.main, answer("This process has no configuration file."), h("p", { class: "empty" }, "Start Kamille with --config FILE to change its configuration here."));
      return;
    }
    throw problem;
  }
  const editor = h("textarea", { name: "yaml", rows: 24, spellcheck: "false", "aria-label": "Configuration", value: running.text });
  const comment = h("input", { name: "comment", size: 32, placeholder: "Why" });
  const trial = h("select", { name: "confirm" }, [["", "keep at once"], ["1m", "trial of 1 min"], ["5m", "trial of 5 min"], ["15m", "trial of 15 min"]].map(([value, name]) => h("option", { value }, name)));
  const result = h("div", { "aria-live": "polite" });
  const history = h("div");
  const send = async (isRehearsal) => {
    const query = new URLSearchParams();
    if (isRehearsal) query.set("dry_run", "true");
    if (comment.value) query.set("comment", comment.value);
    if (trial.value) query.set("confirm", trial.value);
    try {
      const done = await ask(`/v1/config?${query}`, { method: "PUT", text: editor.value, fields: { "If-Match": running.etag } });
      replace(result, note(isRehearsal ? "warn" : "ok", isRehearsal ? "This would change:" : `Version ${done.document.version} runs.`), changes(done.document.changes));
      if (!isRehearsal) { running = await ask("/v1/config", { fields: { Accept: "application/yaml" } }); await versions(); }
    } catch (problem) {
      replace(result, problems(problem));
    }
  };
  const versions = async () => {
    const list = (await get("/v1/config/versions", place.signal)).versions;
    replace(history, card("", "Versions", table([
      { name: "Version", number: true, show: (one) => one.number ?? one.version },
      { name: "Time", show: (one) => new Date(one.time).toLocaleString("en-GB") },
      { name: "By", show: (one) => one.by ?? one.who ?? "" },
      { name: "Comment", show: (one) => one.comment ?? "" },
      { name: "", show: (one) => h("button", { type: "button", class: "plain", onclick: async () => {
        try {
          const done = await ask("/v1/config/rollback", { method: "POST", json: { to: one.number ?? one.version } });
          running = await ask("/v1/config", { fields: { Accept: "application/yaml" } });
          editor.value = running.text;
          replace(result, note("ok", `Version ${done.document.version} runs.`), changes(done.document.changes));
          await versions();
        } catch (problem) {
          replace(result, problems(problem));
        }
      } }, "go back to it") },
    ], list, "No version was committed yet."), copyAsCurl("/v1/config/versions")));
  };
  replace(place.main, answer("The configuration that runs.", "See what would change before you commit. A trial goes back by itself unless you keep it."),
    h("div", { class: "grid" }, card("", null, editor,
      h("div", { class: "row" }, h("label", { class: "grow" }, "Comment", comment), h("label", {}, "Then", trial),
        h("button", { type: "button", onclick: () => send(true) }, "What changes?"), h("button", { type: "button", class: "main", onclick: () => send(false) }, "Commit")),
      result)), h("p"), history);
  await versions();
}
