/** Are all nodes there, and does each know all purges? */
import { ask, get } from "./api.js";
import { answer, card, copyAsCurl, count, duration, h, note, replace, table } from "./dom.js";

const KINDS = { member: "ok", draining: "warn", away: "bad" };

function sentence(view) {
  const away = view.members.filter((one) => one.state === "away").map((one) => one.node);
  if (away.length > 0) return `${away.join(", ")} ${away.length === 1 ? "is" : "are"} away.`;
  return view.members.length === 1 ? "This node is alone." : `All ${count(view.members.length)} nodes are there.`;
}

function order(view) {
  const leader = view.leader ? `${view.leader} is the leader.` : "There is no leader.";
  return `${leader} ${view.quorum ? "This node reaches a majority of the voters." : "This node reaches no majority of the voters."}`;
}

/** What is wrong, and what to do. */
function trouble(view) {
  const diverged = view.members.filter((one) => one.diverged).map((one) => one.node);
  return [
    diverged.length === 0 ? "" : `The configuration of ${diverged.join(", ")} differs from that of the leader. Give it the same settings, except those of its own, and reload.`,
    view.quorum ? "" : "Purges wait for a majority of the voters. Start the voters that are away, or repair the network.",
    view.current ? "" : "This node is cut off and may have missed a purge. The setting cluster.when-cut-off says what becomes of its stored responses.",
  ].filter(Boolean).join(" ");
}

function state(one) {
  const isCutOff = one.state !== "away" && !one.current;
  return h("span", { class: "nowrap" },
    isCutOff && one.state === "member" ? null : h("span", { class: `pill ${KINDS[one.state] ?? "muted"}` }, one.state), " ",
    isCutOff ? h("span", { class: "pill bad" }, "cut off") : null, " ",
    one.diverged ? h("span", { class: "pill bad" }, "diverged") : null);
}

export async function cluster(place) {
  if (place.status()?.clustered === false) {
    replace(place.main, answer("This node is in no cluster.", "The page docs/operations/cluster.md tells how several nodes become one cache."));
    return;
  }
  const head = h("div");
  const banner = h("div");
  const said = h("div", { "aria-live": "polite" });
  const list = h("div");
  const forget = async (node) => {
    try {
      await ask(`/v1/cluster/nodes/${encodeURIComponent(node)}`, { method: "DELETE" });
      replace(said, note("ok", `${node} is forgotten. Purges do not wait for it any more.`));
      await look();
    } catch (problem) {
      replace(said, note("bad", problem.message));
    }
  };
  const look = async () => {
    const view = await get("/v1/cluster", place.signal);
    replace(head, answer(sentence(view), order(view)));
    const wrong = trouble(view);
    if (banner.textContent !== wrong) replace(banner, wrong ? note("bad", wrong) : null);
    replace(list, card("", view.name, table([
      { name: "Node", show: (one) => h("span", { class: "mono" }, one.node, one.node === view.node ? h("span", { class: "muted" }, " (this node)") : null) },
      { name: "State", show: state },
      { name: "Role", show: (one) => [one.leader ? "leader" : null, one.voter ? "voter" : "follower"].filter(Boolean).join(", ") },
      { name: "Version", show: (one) => one.version || "unknown" },
      { name: "Applied purge", number: true, show: (one) => count(one.applied) },
      { name: "Last report", number: true, show: (one) => (one.seconds < 0 ? "none" : `${duration(one.seconds)} ago`) },
      { name: "", show: (one) => (one.state === "away" && !one.voter
        ? h("button", { type: "button", class: "plain", "aria-label": `Forget ${one.node}`, onclick: () => forget(one.node) }, "forget") : "") },
    ], view.members, ""), copyAsCurl("/v1/cluster")));
  };
  replace(place.main, head, banner, said, list);
  await place.every(2, look);
}
