/** What happened lately, and was it as usual? */
import { get } from "./api.js";
import { changedAround, changes } from "./changes.js";
import { chart } from "./chart.js";
import { answer, card, copyAsCurl, count, duration, h, millis, percent, rate, replace, table, when } from "./dom.js";

const NAMES = { hour: "last hour", day: "last day", week: "last week" };

function part(all, some) {
  return all > 0 ? some / all : 0;
}

/** What is told of a period: its name, the figure, how it is written, and whether more of it is good or bad. */
const FIGURES = [
  ["Requests/s, mean", (one) => part(one.seconds, one.requests), rate, 0],
  ["Hit ratio", (one) => (one.requests > 0 ? part(one.requests, one.hits) : null), percent, 1],
  ["Origin failures a minute", (one) => part(one.seconds, one.failures) * 60, rate, -1],
  ["Hits, p99 of the slowest second", (one) => one.hitP99.value || null, millis, -1],
  ["Misses, p99 of the slowest second", (one) => one.missP99.value || null, millis, -1],
  ["CPU per request", (one) => (one.requests > 0 ? part(one.requests, one.cpuSeconds) * 1e6 : null), (value) => `${rate(value)} µs`, -1],
  ["Connections, greatest mean", (one) => one.connections.value, count, 0],
];

function written(value, show) {
  return value === null ? "–" : show(value);
}

/** How much more or less; a tenth is no news. */
function difference(now, before, good) {
  if (now === null || before === null || before === 0) return "–";
  const share = now / before - 1;
  if (Math.abs(share) < 0.1) return "as before";
  const kind = good === 0 ? "" : share * good > 0 ? "ok" : "bad";
  return h("span", { class: kind }, Math.abs(share) < 2 ? `${share > 0 ? "+" : "−"}${Math.round(Math.abs(share) * 100)} %` : `${rate(now / before)} times`);
}

function sentence(report) {
  const { now } = report;
  if (now.requests < 1) return "Nobody asked for anything.";
  const failed = now.failures < 1 ? "no origin failed" : `origins failed ${count(now.failures)} times`;
  return `${count(now.requests)} requests, ${percent(part(now.requests, now.hits))} of them hits; ${failed}.`;
}

function peaks(report) {
  const { now } = report;
  if (now.requests < 1) return [];
  return [
    `It was busiest at ${when(now.busiest.time)}, with ${rate(now.busiest.value)} requests a second.`,
    now.missP99.value > 0 ? `Misses were slowest at ${when(now.missP99.time)}: 99\u00a0% took up to ${millis(now.missP99.value)}.` : null,
    now.worst.value > 0 ? `Origins failed most at ${when(now.worst.time)}, ${rate(now.worst.value)} times a second.` : null,
  ].filter(Boolean);
}

export async function reports(place) {
  const head = h("div");
  const body = h("div", { class: "grid" });
  const around = h("div", { class: "around", "aria-live": "polite" });
  const period = h("select", { name: "period", onchange: () => look() }, Object.entries(NAMES).map(([name, words]) => h("option", { value: name }, words)));
  const look = async () => {
    const [report, known] = await Promise.all([get(`/v1/reports/${period.value}`, place.signal), changes(place.status() ?? {}, place.signal)]);
    const from = new Date(report.to) - report.wantedSeconds * 1000;
    const during = known.filter((one) => new Date(one.time) >= from);
    const covered = report.now.seconds < report.wantedSeconds * 0.95 ? `History began ${duration(report.now.seconds)} ago, with the process.` : `Compared with the ${duration(report.before?.seconds ?? 0)} before.`;
    replace(head, answer(sentence(report), covered));
    const show = (time, seconds) => replace(around, changedAround(place, known, time, seconds, () => replace(around)));
    const figures = report.figures;
    const steps = Math.max(figures.requestsPerSecond.length, 60);
    replace(body,
      card("", null, h("div", { class: "row" }, h("label", {}, "Period", period)), peaks(report).map((words) => h("p", {}, words)), copyAsCurl(`/v1/reports/${period.value}`)),
      card("c8", "Requests and hits per second", chart(
        [{ name: "hits", values: figures.hitsPerSecond }, { name: "requests", values: figures.requestsPerSecond }],
        steps, report.stepSeconds, rate, `Requests and hits per second in the ${NAMES[period.value]}.`, during, show)),
      card("c4", report.before ? "Against the time before" : "Figures", table([
        { name: "", show: (one) => one[0] },
        report.before ? { name: "Before", number: true, show: ([, of, text]) => written(of(report.before), text) } : null,
        { name: "Now", number: true, show: ([, of, text]) => written(of(report.now), text) },
        report.before ? { name: "Change", number: true, show: ([, of, , good]) => difference(of(report.now), of(report.before), good) } : null,
      ].filter(Boolean), FIGURES, "")),
      around,
      card("", "Changes", during.length === 0 ? h("p", { class: "empty" }, "Nothing was changed: no version, no purge, no setting of the running process.") : table([
        { name: "Time", show: (one) => h("span", { class: "nowrap" }, when(one.time)) },
        { name: "What", show: (one) => h("a", { href: one.href }, one.name) },
        { name: "Comment", show: (one) => one.version?.comment || "–" },
      ], during.slice(0, 20), ""), copyAsCurl("/v1/audit")));
  };
  replace(place.main, head, body);
  await place.every(10, look);
}
