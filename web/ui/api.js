// The service's REST. A token, where reads need one, lives as long as the tab.

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const tokenName = "nightjar-token";

export const setToken = (token) => sessionStorage.setItem(tokenName, token);

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

/** Posts to /api/v1/<path> with this token; throws a Problem with what the service says. */
export async function post(path, token) {
  const response = await fetch(`api/v1/${path}`, {
    method: "POST",
    headers: { Accept: "application/json", Authorization: `Bearer ${token}` },
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

/** Saves what is at /api/v1/<path> as a file: a plain link could not show a token. */
export async function save(path, name) {
  const text = JSON.stringify(await get(path), null, 1);
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

/** The metrics there are, as the interface's description lists them. */
export async function metricNames() {
  const document = await (await fetch("openapi.json")).json();
  return document.components.schemas.MetricName.enum;
}

/** The items at <path>. */
export const list = async (path) => (await get(path)).items;

const builds = new Map();

/** A build by id; proved builds do not change, so each is asked for once. */
export function build(id) {
  if (!builds.has(id)) {
    builds.set(id, get(`builds/${id}`).catch((error) => {
      builds.delete(id);
      throw error;
    }));
  }
  return builds.get(id);
}
