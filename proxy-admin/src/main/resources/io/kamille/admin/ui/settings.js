/** Who am I here, who else may come in? */
import { Problem, ask, forget, get } from "./api.js";
import { answer, card, copyAsCurl, h, note, replace, table, when } from "./dom.js";

export async function settings(place) {
  const me = await get("/v1/session", place.signal);
  const tokens = h("div");
  const result = h("div", { "aria-live": "polite" });
  const list = async () => {
    try {
      const all = (await get("/v1/tokens", place.signal)).tokens;
      replace(tokens, table([
        { name: "Name", show: (one) => one.name },
        { name: "Scope", show: (one) => one.scope },
        { name: "Expires", show: (one) => new Date(one.expires).toLocaleDateString("en-CA") },
        { name: "Last used", show: (one) => (one.lastUsed ? when(one.lastUsed) : "never") },
        { name: "", show: (one) => h("button", { type: "button", class: "plain", "aria-label": `Revoke ${one.name}`, onclick: async () => {
          try { await ask(`/v1/tokens/${one.id}`, { method: "DELETE" }); await list(); } catch (problem) { replace(result, note("bad", problem.message)); }
        } }, "revoke") },
      ], all, "No named token. The token file is the only one."));
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
      replace(tokens, h("p", { class: "empty" }, problem.message));
    }
  };
  const name = h("input", { name: "name", required: true, size: 24 });
  const scope = h("select", { name: "scope" }, ["read", "operate", "admin", "purge"].map((one) => h("option", { value: one }, one)));
  const days = h("input", { name: "days", type: "number", min: 1, max: 366, value: 90, size: 6 });
  const create = async (event) => {
    event.preventDefault();
    try {
      const made = (await ask("/v1/tokens", { method: "POST", json: { name: name.value, scope: scope.value, days: Number(days.value) } })).document;
      replace(result, note("ok", h("p", {}, "This secret is shown once:"), h("pre", {}, made.token)));
      await list();
    } catch (problem) {
      replace(result, note("bad", problem.message));
    }
  };
  const keys = h("input", { type: "checkbox", name: "keys", onchange: (event) => localStorage.setItem("kamille-keys", event.target.checked ? "on" : "off") });
  keys.checked = localStorage.getItem("kamille-keys") !== "off";
  replace(place.main,
    answer(`You are signed in ${me.id === "file" ? "by the token file" : `as ${me.name}`}, with scope ${me.scope}.`, "After 15 minutes, a change asks for your token again."),
    h("div", { class: "grid" },
      card("c8", "Tokens", tokens, h("form", { class: "row", onsubmit: create }, h("label", {}, "Name", name), h("label", {}, "Scope", scope), h("label", {}, "Days", days), h("button", { type: "submit" }, "Make a token")), result, copyAsCurl("/v1/tokens")),
      card("c4", "This browser",
        h("p", {}, h("label", { class: "check" }, keys, "Letters as shortcuts: g and a letter, /")),
        h("button", { type: "button", onclick: async () => { await ask("/v1/session", { method: "DELETE" }); forget(); location.assign("/"); } }, "Sign out"))));
  await list();
}
