/** Who changed what? */
import { get } from "./api.js";
import { answer, card, copyAsCurl, h, replace, table, when } from "./dom.js";

const token = (address) => `token from ${address}`;
const VIA = { file: token, token, session: (address) => `browser on ${address}`, socket: () => "local socket" };

/** What was asked for; of a refusal that stands for others, what it says. */
function what(entry) {
  const method = /^[A-Z]+(?= \/)/.exec(entry.action);
  return method ? `${method[0]} ${entry.target}` : `${entry.action}: ${entry.target}`;
}

export async function audit(place) {
  await place.every(5, async () => {
    const found = await get("/v1/audit?limit=200", place.signal);
    const done = found.entries.filter((entry) => entry.outcome !== "begun");
    const last = done.find((entry) => entry.outcome.startsWith("2") && !entry.action.includes("/session") && !entry.target.includes("dry_run"));
    replace(place.main,
      answer(last ? `The last change was at ${when(last.time)} by ${last.who?.name ?? "nobody known"}.` : "Nobody has changed anything yet.",
        "Each line holds the digest of the line before; kamille audit verify checks them."),
      card("", "Changes and refusals", table([
        { name: "Time", show: (one) => h("span", { class: "nowrap" }, when(one.time)) },
        { name: "Who", show: (one) => h("span", { class: "nowrap" }, one.who?.name ?? "–") },
        { name: "Via", show: (one) => h("span", { class: "nowrap" }, VIA[one.who?.via]?.(one.who.address) ?? "–") },
        { name: "What", show: (one) => h("span", { class: "mono" }, what(one), one.order ? h("div", { class: "muted" }, one.order) : null) },
        { name: "Outcome", show: (one) => h("span", { class: one.outcome.startsWith("2") ? "ok" : "bad" }, one.outcome) },
      ], done, "Purge something, change a setting or make a token: it appears here."), copyAsCurl("/v1/audit")));
  });
}
