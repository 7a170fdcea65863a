/** The control plane's API, as the one who is signed in here. */
const KEY = "kamille-key";

/** What went wrong, from a problem document (RFC 9457). */
export class Problem extends Error {
  constructor(status, document) {
    super(document.detail ?? document.title ?? `status ${status}`);
    this.status = status;
    this.type = document.type ?? "about:blank";
    this.errors = document.errors ?? [];
  }
}

/** Asks whoever sits here for a fresh proof; true once there is one. The shell says how. */
let prove = async () => false;

export function provenBy(asking) {
  prove = asking;
}

export function isSignedIn() {
  return localStorage.getItem(KEY) !== null;
}

export function forget() {
  localStorage.removeItem(KEY);
}

/** All tabs share the key: what another tab does with it holds here, too. */
addEventListener("storage", ({ key, newValue }) => {
  if (key === KEY) dispatchEvent(new CustomEvent(newValue === null ? "signed-out" : "signed-in"));
});

export async function signIn(proof) {
  const { document } = await ask("/v1/session", { method: "POST", json: proof });
  localStorage.setItem(KEY, document.key);
}

/** Asks; gives the document, the text and the entity tag. */
export async function ask(path, { method = "GET", json, text, type, fields = {}, signal } = {}) {
  const headers = { ...fields };
  const key = localStorage.getItem(KEY);
  if (key) headers["X-Kamille-Key"] = key;
  let body;
  if (json !== undefined) {
    headers["Content-Type"] = type ?? "application/json";
    body = JSON.stringify(json);
  } else if (text !== undefined) {
    headers["Content-Type"] = type ?? "application/yaml";
    body = text;
  }
  const response = await fetch(path, { method, headers, body, signal, credentials: "same-origin" });
  const content = await response.text();
  const isJson = /json/.test(response.headers.get("Content-Type") ?? "");
  const document = isJson && content ? JSON.parse(content) : null;
  if (!response.ok) {
    if (response.status === 401 && path !== "/v1/session" && key === localStorage.getItem(KEY)) {
      forget();
      dispatchEvent(new CustomEvent("signed-out"));
    }
    const problem = new Problem(response.status, document ?? {});
    if (problem.type === "/problems/proof-needed" && await prove()) return ask(path, { method, json, text, type, fields, signal });
    throw problem;
  }
  return { document, text: content, etag: response.headers.get("ETag") };
}

export async function get(path, signal) {
  return (await ask(path, { signal })).document;
}

/** Reads the stream of figures until it ends or is aborted, one call for each event. */
export async function live(signal, onEvent) {
  const response = await fetch("/v1/live", {
    headers: { "X-Kamille-Key": localStorage.getItem(KEY) ?? "" }, signal, credentials: "same-origin" });
  if (!response.ok) throw new Problem(response.status, {});
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let waiting = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    waiting += value;
    const events = waiting.split("\n\n");
    waiting = events.pop();
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event);
      if (data) onEvent(JSON.parse(data[1]));
    }
  }
}
