// The service's REST. A token, where reads need one, lives as long as the tab. Whoever signed in
// through a provider needs none: the browser sends the session's cookie.

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const tokenName = "nightjar-token";
const againMilliseconds = 15000;

export const setToken = (token) => sessionStorage.setItem(tokenName, token);
export const forgetToken = () => sessionStorage.removeItem(tokenName);

/** The JSON at /api/v1/<path>; throws a Problem with what the service says. */
export async function get(path) {
  const headers = { Accept: "application/json" };
  const token = sessionStorage.getItem(tokenName);
  if (token) headers.Authorization = `Bearer ${token}`;
  let response;
  try {
    response = await fetch(`api/v1/${path}`, { headers, signal: AbortSignal.timeout(15000) });
  } catch {
    throw new Problem(0, "The service does not answer. Is nightjard running?");
  }
  const body = await response.json().catch(() => null);
  if (!response.ok) {
    throw new Problem(response.status, body?.detail || body?.title
      || `It answered ${response.status}.`);
  }
  if (body === null) throw new Problem(response.status, "Its answer is not JSON.");
  return body;
}

const stranger = { project: null, is_pytorch: true, role: "none" };
let asking = stranger;

/**
 * What the service watches, and the role of who asks. Nothing is known about a service that does
 * not answer a stranger.
 */
export async function about() {
  asking = await get("about").catch(() => stranger);
  return asking;
}

/** How people sign in here, and who has in this browser: {sign_in, account, role}. */
export const signedIn = () =>
  get("sign-in").catch(() => ({ sign_in: false, account: null, role: "none" }));

/** Ends the session of this browser; throws a Problem. */
export const signOut = () => send("sign-in", "DELETE");

/** Whether who asks is an admin, as of the last answer. */
export const isAdmin = () => asking.role === "admin";

/** All pages of a list as one text of CSV; throws a Problem. */
export async function csvOf(list, query) {
  const token = sessionStorage.getItem(tokenName), pages = [];
  for (let next = `?${query}`; next;) {
    const response = await fetch(`api/v1/${list}${next}`, { headers: { Accept: "text/csv",
      ...(token && { Authorization: `Bearer ${token}` }) } });
    if (!response.ok) throw new Problem(response.status, `It answered ${response.status}.`);
    const page = await response.text();
    pages.push(pages.length === 0 ? page : page.slice(page.indexOf("\n") + 1));
    next = /<[^?>]*([^>]*)>; rel="next"/.exec(response.headers.get("Link") ?? "")?.[1];
  }
  return pages.join("");
}

/**
 * Posts to /api/v1/<path> with this token, or with the tab's; throws a Problem with what the
 * service says.
 */
export const post = (path, token, sent) => send(path, "POST", token, sent);

async function send(path, method, token = sessionStorage.getItem(tokenName), sent = undefined) {
  const response = await fetch(`api/v1/${path}`, {
    method,
    headers: { Accept: "application/json", ...(token && { Authorization: `Bearer ${token}` }),
      ...(sent && { "Content-Type": "application/json" }) },
    body: sent && JSON.stringify(sent),
    signal: AbortSignal.timeout(15000),
  });
  if (response.ok) return;
  const body = await response.json().catch(() => null);
  throw new Problem(response.status, body?.detail ?? `It answered ${response.status}.`);
}

/**
 * Whether the service can work and what stops nights: {ready, detail, obstacles: [{kind, reason}]}.
 */
export async function readiness() {
  const response = await fetch("readyz", { signal: AbortSignal.timeout(15000) });
  const body = await response.json();  // 503 has one, too
  return { ready: body.ready, detail: body.detail ?? "", obstacles: body.obstacles };
}

/** The words that a type of the interface's description has: "MetricName", "Domain". */
export async function wordsOf(type) {
  const document = await (await fetch("openapi.json")).json();
  return document.components.schemas[type].enum;
}

/** The items at <path>. */
export const list = async (path) => (await get(path)).items;

/** All items of a list of several pages, about `most` at most. */
export async function all(path, most = 1000) {
  const items = [];
  let cursor = null;
  do {
    const page = await get(`${path}${path.includes("?") ? "&" : "?"}limit=500${
      cursor ? `&cursor=${cursor}` : ""}`);
    items.push(...page.items);
    cursor = page.next_cursor;
  } while (cursor && items.length < most);
  return items;
}

/** Calls back at each event of the service, until the signal ends it. */
export async function listen(heard, signal) {
  const token = sessionStorage.getItem(tokenName);
  try {
    const response = await fetch("api/v1/events", { signal, cache: "no-store",
      headers: token ? { Authorization: `Bearer ${token}` } : {} });
    const events = response.ok && response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let part; events && !(part = await events.read()).done;) {
      if (part.value.includes("data:")) heard();
    }
  } catch { /* The service is away; the page says so where it asks. */ }
  if (!signal.aborted) setTimeout(() => listen(heard, signal), againMilliseconds);
}

const kept = new Map();

/** Something that does not change, such as a proved build: each is asked for once. */
export function once(path) {
  if (!kept.has(path)) {
    kept.set(path, get(path).catch((error) => {
      kept.delete(path);
      throw error;
    }));
  }
  return kept.get(path);
}

/** The machine classes that have runners or an imported history: [{id, facts}]. */
export async function machines() {
  const [runners, imported] = await Promise.all([list("runners?limit=500"), list("imports")]);
  return [...new Map([...runners.map((r) => [r.machine.id, r.machine]), ...imported.map((m) =>
    [m.machine, { id: m.machine, facts: { imported: m.name } }])]).values()];
}
