/** What runs, what would change, and how to go back? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, diffOf, h, note, replace, table, when } from "./dom.js";

const YAML = { Accept: "application/yaml" };

function problems(problem) {
  return note("bad", h("p", {}, problem.message), problem.errors.length === 0 ? null : h("ul", { class: "plain" }, problem.errors.map((one) =>
    h("li", {}, one.file ? `${one.file}, ` : "", one.line ? `Line ${one.line}: ` : "", one.pointer ? h("code", {}, one.pointer) : "", one.found ? `: ${one.found}` : "",
      one.expected ? `; expected ${one.expected}` : "", one.nearest ? `. Did you mean ${one.nearest}?` : ""))));
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

function choice(name, label, options) {
  const select = h("select", { name }, options.map(([value, words]) => h("option", { value }, words)));
  return [select, h("label", {}, label, select)];
}

export async function configuration(place) {
  if (!place.status()?.configurable) {
    replace(place.main, answer("This process has no configuration file."),
      h("p", { class: "empty" }, "Start Kamille with ", h("code", {}, "kamille run --config FILE"), " to change its configuration here."));
    return;
  }
  let running = null;
  const head = h("div");
  const editor = h("textarea", { name: "yaml", rows: 24, spellcheck: "false", wrap: "off", "aria-label": "Configuration" });
  const comment = h("input", { name: "comment", size: 32, maxlength: 500, placeholder: "Why" });
  const [trial, trialLabel] = choice("confirm", "Then", [["", "keep at once"], ["1m", "trial of 1 min"], ["5m", "trial of 5 min"], ["15m", "trial of 15 min"]]);
  const [guard, guardLabel] = choice("guard", "Go back if failures rise by", [["", "do not watch"], ["0.01", "1 %"], ["0.05", "5 %"], ["0.2", "20 %"]]);
  const [guardP99, guardP99Label] = choice("guardP99", "or p99 exceeds", [["", "do not watch"], ["100ms", "100 ms"], ["500ms", "500 ms"], ["1s", "1 s"], ["5s", "5 s"]]);
  const watch = () => { for (const field of [guard, guardP99]) field.disabled = !trial.value; };
  trial.addEventListener("change", watch);
  watch();
  const result = h("div", { "aria-live": "polite" });
  const history = h("div");

  const read = async () => {
    running = await ask("/v1/config", { fields: YAML, signal: place.signal });
    editor.value = running.text;
    const { version, pendingRestart, trial: open } = await get("/v1/config", place.signal);
    replace(head, answer(open ? `A trial by ${open.by} runs; version ${version} comes back unless you keep it.` : `Version ${version} runs.`,
      "See what would change before you commit. A trial goes back by itself unless you keep it."),
    pendingRestart.length === 0 ? null : note("warn", h("p", {}, "These settings wait for a restart:"), changes(pendingRestart)));
  };
  const change = async (send) => {
    try {
      const done = await send();
      await read();
      await versions();
      replace(result, note("ok", done.document.trialDeadline ? "It runs on trial: keep or revert it above." : `Version ${done.document.version} runs.`), changes(done.document.changes));
      dispatchEvent(new CustomEvent("configuration"));
    } catch (problem) {
      replace(result, problems(problem));
    }
  };
  const query = () => {
    const parameters = new URLSearchParams();
    for (const [name, field] of [["comment", comment], ["confirm", trial], ["guard", guard], ["guardP99", guardP99]]) {
      if (field.value && (!name.startsWith("guard") || trial.value)) parameters.set(name, field.value);
    }
    return parameters.size === 0 ? "" : `?${parameters}`;
  };
  const rehearse = async () => {
    try {
      const { document } = await ask("/v1/config?dry_run=true", { method: "PUT", text: editor.value });
      replace(result, note("warn", document.changes.length === 0 ? "No setting would change." : "This would change:"), diffOf(document.diff), changes(document.changes));
    } catch (problem) {
      replace(result, problems(problem));
    }
  };
  const commit = () => change(() => ask(`/v1/config${query()}`, { method: "PUT", text: editor.value, fields: { "If-Match": running.etag } }));
  const rollback = (to) => change(() => ask("/v1/config/rollback", { method: "POST", json: { to }, fields: { "If-Match": running.etag } }));
  const compare = async (from, to) => {
    try {
      const found = await ask(`/v1/config/diff?from=${from}&to=${to}`, { fields: { Accept: "text/x-diff" } });
      replace(result, h("h2", {}, `From version ${from} to ${to}`), diffOf(found.text));
      result.scrollIntoView({ block: "nearest" });
    } catch (problem) {
      replace(result, problems(problem));
    }
  };
  const versions = async () => {
    const list = (await get("/v1/config/versions", place.signal)).versions;
    const newest = list[0]?.number;
    replace(history, card("", "Versions", table([
      { name: "Version", show: (one) => one.number },
      { name: "Time", show: (one) => when(one.time) },
      { name: "By", show: (one) => one.by },
      { name: "Comment", show: (one) => one.comment || "–" },
      { name: "", show: (one) => h("span", { class: "nowrap" },
        one.base ? h("button", { type: "button", class: "plain", onclick: () => compare(one.base, one.number), "aria-label": `What version ${one.number} changed` }, "what changed") : null, " ",
        one.number === newest ? null : h("button", { type: "button", class: "plain", onclick: () => rollback(one.number), "aria-label": `Go back to version ${one.number}` }, "go back to it")) },
    ], list, "No version was kept yet."), copyAsCurl("/v1/config/versions")));
  };

  replace(place.main, head,
    h("div", { class: "grid" }, card("", null, editor,
      h("div", { class: "row" }, h("label", { class: "grow" }, "Comment", comment), trialLabel, guardLabel, guardP99Label,
        h("button", { type: "button", onclick: rehearse }, "What changes?"), h("button", { type: "button", class: "main", onclick: commit }, "Commit")),
      result)), history);
  addEventListener("configuration", () => { read().then(versions).catch(() => {}); }, { signal: place.signal });
  await read();
  await versions();
}
