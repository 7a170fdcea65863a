/** The shell: who is signed in, which page is shown, what lives in the header. */
import { ask, get, isSignedIn, live, provenBy, signIn } from "./api.js";
import { count, h, millis, note, percent, replace } from "./dom.js";
import { overview } from "./overview.js";
import { traffic } from "./traffic.js";
import { cache } from "./cache.js";
import { origins } from "./origins.js";
import { engine } from "./engine.js";
import { connections } from "./connections.js";
import { cluster } from "./cluster.js";
import { certificates } from "./certificates.js";
import { configuration } from "./configuration.js";
import { audit } from "./audit.js";
import { settings } from "./settings.js";

const PAGES = [
  { path: "overview", name: "Overview", key: "o", show: overview },
  { path: "traffic", name: "Traffic", key: "t", show: traffic },
  { path: "cache", name: "Cache", key: "c", show: cache },
  { path: "origins", name: "Origins", key: "r", show: origins },
  { path: "engine", name: "Engine", key: "e", show: engine },
  { path: "connections", name: "Connections", key: "n", show: connections },
  { path: "cluster", name: "Cluster", key: "l", show: cluster },
  { path: "certificates", name: "Certificates", key: "i", show: certificates },
  { path: "configuration", name: "Configuration", key: "f", show: configuration },
  { path: "audit", name: "Audit", key: "a", show: audit },
  { path: "settings", name: "Settings", key: "s", show: settings },
];

/** The figures of the last ten minutes, kept up to date by the stream. */
const history = { stepSeconds: 1, steps: 600, figures: {} };
let status = null;
let leave = null;
let stream = null;
let ticking = null;
let refreshing = null;

function theme(name) {
  document.documentElement.dataset.theme = name;
  localStorage.setItem("kamille-theme", name);
}
theme(localStorage.getItem("kamille-theme") ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));

const state = h("span", { class: "state", role: "status" });
const trial = h("span", { class: "trial" });
const main = h("main", { id: "main", tabindex: "-1" });
const links = PAGES.map((page) => h("a", { href: `#${page.path}`, title: `g ${page.key}` }, page.name));

async function shell() {
  removeEventListener("hashchange", show);
  replace(document.body,
    h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); main.focus(); } }, "Skip to the page"),
    h("header", {},
      h("a", { class: "brand", href: "#overview" }, h("img", { src: "/ui/icon.svg", alt: "" }), "Kamille"),
      state, trial,
      h("button", { type: "button", "aria-label": "Switch between light and dark",
        onclick: () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark") }, "◐")),
    h("div", { class: "frame" }, h("nav", { "aria-label": "Pages" }, links), main));
  addEventListener("hashchange", show);
  await refresh();
  show();
  connect();
}

function show() {
  const name = location.hash.slice(1).split("?")[0] || "overview";
  const page = PAGES.find((one) => one.path === name) ?? PAGES[0];
  links.forEach((link, i) => {
    if (PAGES[i] === page) {
      link.setAttribute("aria-current", "page");
      if (link.parentElement.scrollWidth > link.parentElement.clientWidth) link.scrollIntoView({ block: "nearest", inline: "center" });
    } else link.removeAttribute("aria-current");
  });
  document.title = `${page.name} · Kamille`;
  leave?.();
  const gone = new AbortController();
  leave = () => gone.abort();
  replace(main, h("p", { class: "empty" }, "Loading …"));
  const place = { main, signal: gone.signal, history, status: () => status, every: (seconds, look) => every(gone.signal, seconds, look) };
  main.setAttribute("aria-busy", "true");
  page.show(place).catch((problem) => failed(gone.signal, problem))
    .finally(() => { if (!gone.signal.aborted) main.removeAttribute("aria-busy"); });
}

function failed(signal, problem) {
  if (signal.aborted) return;
  replace(main, note("bad", h("p", {}, `This page cannot be shown: ${problem.message}`),
    h("button", { type: "button", onclick: show }, "Try again")));
}

/** Looks now and then every so often, while the page is shown and the tab can be seen. */
function every(signal, seconds, look) {
  let timer;
  const turn = async () => {
    if (signal.aborted) return;
    try {
      if (!document.hidden) await look();
      main.style.opacity = "";
    } catch (problem) {
      if (!signal.aborted) main.style.opacity = ".6";
      if (!main.querySelector("h1")) failed(signal, problem);
    }
    if (!signal.aborted) timer = setTimeout(turn, seconds * 1000);
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  return turn();
}

async function refresh() {
  clearTimeout(refreshing);
  if (!isSignedIn()) return;
  try {
    status = await get("/v1/status");
    sayState();
    sayTrial().catch(() => {});
  } catch {
    state.textContent = "No answer from Kamille. Trying again.";
  }
  refreshing = setTimeout(refresh, 5000);
}

function sayState() {
  const requests = history.figures.requestsPerSecond?.at(-1);
  const now = requests === undefined ? "" : ` · ${count(requests)} requests/s`;
  const words = { ready: "Serving", starting: "Starting", draining: "Finishing its last exchanges" };
  state.textContent = status ? `${words[status.state] ?? status.state}${now} · ${status.version}` : "";
}

/** What was measured before the trial and since, in words. */
function measures({ before, since }) {
  const words = (one) => `${count(one.requests)} requests, ${percent(one.failureRatio)} failed, 99\u00a0% within ${millis(one.p99Millis)}`;
  return `Before: ${words(before)}. Since: ${words(since)}.`;
}

async function sayTrial() {
  const open = status.configurable ? await get("/v1/config/trial") : null;
  clearInterval(ticking);
  if (!open) {
    replace(trial);
    return;
  }
  const time = h("span");
  const left = h("span", { class: "left" }, "Trial", h("span", { class: "by" }, ` by ${open.by}`), " ", time);
  const seen = h("span", { class: "seen", title: measures(open) }, open.since.requests > 0 ? `${percent(open.since.failureRatio)} fail, p99 ${millis(open.since.p99Millis)}` : "no request yet");
  const decide = async (decision) => {
    try {
      const { etag } = await ask("/v1/config");
      await ask("/v1/config/trial", { method: "POST", json: { decision }, fields: { "If-Match": etag } });
    } catch (problem) {
      replace(trial, problem.message);
      return;
    }
    await sayTrial();
    dispatchEvent(new CustomEvent("configuration"));
  };
  const tick = () => {
    const seconds = Math.max(0, Math.round((new Date(open.deadline) - Date.now()) / 1000));
    time.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    if (seconds === 0) { clearInterval(ticking); setTimeout(() => sayTrial().catch(() => {}), 1000); }
  };
  tick();
  ticking = setInterval(tick, 1000);
  replace(trial, left, seen,
    h("button", { type: "button", onclick: () => decide("keep") }, "Keep"),
    h("button", { type: "button", onclick: () => decide("revert") }, "Revert"));
}
addEventListener("configuration", () => { if (status) sayTrial().catch(() => {}); });

/** One stream for each tab, and none while the tab is hidden: browsers open few connections. */
async function connect() {
  stream?.abort();
  if (document.hidden || !isSignedIn()) return;
  stream = new AbortController();
  const { signal } = stream;
  try {
    Object.assign(history, await get("/v1/series", signal));
    dispatchEvent(new CustomEvent("figures"));
    await live(signal, (figures) => {
      for (const [name, value] of Object.entries(figures)) {
        const values = (history.figures[name] ??= []);
        values.push(value);
        if (values.length > history.steps) values.shift();
      }
      sayState();
      dispatchEvent(new CustomEvent("figures"));
    });
  } catch {
    // Tried again below.
  }
  if (!signal.aborted) setTimeout(connect, 2000);
}
document.addEventListener("visibilitychange", connect);

let prefix = false;
document.addEventListener("keydown", (event) => {
  if (localStorage.getItem("kamille-keys") === "off" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName)) return;
  if (prefix) {
    prefix = false;
    const page = PAGES.find((one) => one.key === event.key);
    if (page) location.hash = page.path;
  } else if (event.key === "g") {
    prefix = true;
    setTimeout(() => { prefix = false; }, 1500);
  } else if (event.key === "/") {
    const field = main.querySelector("input");
    if (field) { event.preventDefault(); field.focus(); }
  }
});

function signInPage(problem) {
  const field = h("input", { type: "password", name: "token", autocomplete: "current-password", required: true });
  replace(document.body,
    h("main", { class: "sign-in" },
      h("h1", {}, "Sign in to Kamille"),
      h("p", {}, "On the machine that runs Kamille, ", h("code", {}, "kamille login"), " prints a link that signs you in. Or paste a token."),
      problem ? note("bad", problem) : null,
      h("form", { onsubmit: async (event) => {
        event.preventDefault();
        try {
          await signIn({ token: field.value.trim() });
          shell();
        } catch (refused) {
          signInPage(refused.message);
        }
      } }, h("label", {}, "Token", field), h("button", { class: "main", type: "submit" }, "Sign in"))));
  field.focus();
}

/** Asks for the token again and leaves the page as it is; true if the change may be tried again. */
provenBy(() => new Promise((answered) => {
  const field = h("input", { type: "password", name: "token", autocomplete: "current-password" });
  const said = h("div", { "aria-live": "polite" });
  const dialog = h("dialog", { "aria-labelledby": "proof", onclose: () => { dialog.remove(); answered(dialog.returnValue === "proven"); } },
    h("h2", { id: "proof" }, "Is it still you?"),
    h("p", {}, "You showed your token more than 15 minutes ago. Show it again to go on. Or open a new link of ", h("code", {}, "kamille login"), " in another tab, then press Go on."),
    said,
    h("form", { onsubmit: async (event) => {
      event.preventDefault();
      try {
        if (field.value) await signIn({ token: field.value.trim() });
        dialog.close("proven");
      } catch (refused) {
        replace(said, note("bad", refused.message));
      }
    } }, h("label", {}, "Token", field),
    h("div", { class: "row" }, h("button", { class: "main", type: "submit" }, "Go on"), h("button", { type: "button", onclick: () => dialog.close("") }, "Cancel"))));
  document.body.append(dialog);
  dialog.showModal();
}));

const asksToSignIn = () => document.querySelector("main.sign-in") !== null;
addEventListener("signed-in", () => { if (asksToSignIn()) shell(); });
addEventListener("signed-out", () => {
  if (asksToSignIn()) return;
  stream?.abort();
  leave?.();
  signInPage("The session is over.");
});

async function start() {
  const code = /^#code=([\w-]+)$/.exec(location.hash);
  if (code) {
    window.history.replaceState(null, "", "/");
    try {
      await signIn({ code: code[1] });
    } catch (refused) {
      signInPage(refused.message);
      return;
    }
  }
  if (isSignedIn()) shell();
  else signInPage(null);
}
start();
