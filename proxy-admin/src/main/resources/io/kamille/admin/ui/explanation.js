/** What would become of a request, rule by rule. */
import { h } from "./dom.js";

export function explanation(found) {
  return h("div", {},
    h("p", {}, h("strong", {}, found.decision), found.fwd ? ` (fwd=${found.fwd})` : "", found.route ? `, by route ${found.route.name}` : "", found.key ? [", key ", h("code", {}, found.key)] : ""),
    h("ol", { class: "steps" }, found.because.map((reason) =>
      h("li", {}, h("strong", {}, reason.rule), reason.found ? [": ", h("code", {}, reason.found)] : "",
        reason.so ? ` → ${reason.so}` : "", reason.section ? h("span", { class: "muted" }, ` (${reason.section})`) : ""))));
}
