/** Are the certificates valid, and when do the next ones come? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, count, duration, h, note, replace, table, when } from "./dom.js";

function sentence(all) {
  const missing = all.filter((one) => one.lifetimeLeft === 0).length;
  const failing = all.filter((one) => one.error).length;
  if (all.length === 0) return "No certificate is ordered.";
  if (missing > 0) return `${count(missing)} of ${count(all.length)} names ${missing === 1 ? "has" : "have"} no valid certificate.`;
  const well = all.length === 1 ? "The certificate is valid" : `All ${count(all.length)} certificates are valid`;
  return failing > 0 ? `${well}, but the last order failed for ${count(failing)}.` : `${well}.`;
}

function left(one) {
  if (!one.notAfter) return h("span", { class: "muted" }, "none yet: self-signed until then");
  const seconds = (new Date(one.notAfter) - Date.now()) / 1000;
  const words = seconds > 0 ? `${duration(seconds)} left` : "expired";
  return h("div", {}, words,
    h("meter", { min: 0, max: 1, low: 0.25, high: 0.25, optimum: 1, value: one.lifetimeLeft, "aria-label": `Lifetime left of ${one.name}` }, words),
    h("div", { class: "muted" }, `until ${when(one.notAfter)}`));
}

export async function certificates(place) {
  let tried = null;
  let turns = 0;
  const head = h("div");
  const said = h("div", { "aria-live": "polite" });
  const list = h("div");
  const order = async (event, one, action) => {
    event.target.closest("tr").querySelector("details").open = true;
    try {
      await ask(`/v1/certificates/${encodeURIComponent(one.name)}/${action}`, { method: "POST" });
      if (action === "try") tried = one.name;
      replace(said, note("ok", action === "try" ? `A trial order for ${one.name} has begun.` : `A new certificate for ${one.name} is due now, if the limits allow.`));
      await look();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  };
  const button = (one, word, action) => h("button", { type: "button", class: "plain", "aria-label": `${word} ${one.name}`, onclick: (event) => order(event, one, action) }, word);
  const look = async () => {
    const all = (await get("/v1/certificates", place.signal)).certificates;
    const ended = all.find((one) => one.name === tried && !one.isRehearsed);
    if (ended) {
      tried = null;
      replace(said, note(ended.steps.at(-1)?.startsWith("failed") ? "bad" : "ok", `${ended.name}: ${ended.steps.at(-1)}`));
    }
    tried ??= all.find((one) => one.isRehearsed)?.name ?? null;
    replace(head, answer(sentence(all), all.length > 0 ? "Kamille orders and renews them by itself. Try orders one where the authority lets you test, and throws it away."
      : h("span", {}, "To have certificates ordered, write ", h("code", {}, "tls: acme"), " at a listener and ", h("code", {}, "acme: { terms-agreed: true }"), " into the ", h("a", { href: "#configuration" }, "configuration"), "; the page docs/operations/acme.md tells how.")));
    replace(list, all.length === 0 ? [] : card("", "Certificates", table([
      { name: "Name", show: (one) => h("span", { class: "mono nowrap" }, one.name) },
      { name: "From", show: (one) => one.issuer || "–" },
      { name: "Left", show: left },
      { name: "Next try", show: (one) => h("div", {}, one.next ? when(one.next) : "none", h("div", { class: "muted" }, one.why)) },
      { name: "Last error", show: (one) => h("span", { class: one.error ? "bad" : null }, one.error || "–") },
      { name: "Last order", show: (one) => h("details", {}, h("summary", { "aria-label": `Steps of ${one.name}` }, "Steps"),
        one.steps.length === 0 ? h("p", { class: "muted" }, "None since the start.") : h("ol", { class: "steps" }, one.steps.map((step) => h("li", {}, step)))) },
      { name: "", show: (one) => h("span", { class: "nowrap" }, button(one, "Renew", "renew"), button(one, "Try", "try")) },
    ], all, ""), copyAsCurl("/v1/certificates")));
  };
  replace(place.main, head, said, list);
  await place.every(1, async () => { if (tried || turns++ % 5 === 0) await look(); });
}
