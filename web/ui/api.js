// The service's REST, read only. A token, where reads need one, lives as long as the tab.

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
    throw new Problem(response.status, body?.detail || body?.title || `It answered ${response.status}.`);
  }
  if (body === null) throw new Problem(response.status, "Its answer is not JSON.");
  return body;
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
