// Addresses: which page one names, and with which argument and filters.

const routes = [  // address, module of the page, entry of the menu
  [/^$/, "morning", ""],
  [/^series$/, "search", "series"],
  [/^series\/(\d+)$/, "series", "series"],
  [/^regressions?[/-](\d+)$/, "regression", "changes"],
  [/^bisections\/(\d+)$/, "bisection", "changes"],
  [/^(changes|compare|compilers|vision|domains|roofline|nights|machines|builds)$/],
  [/^commits\/([0-9a-f]{4,40})$/, "commit", "builds"],
  [/^authors$/, "author", "builds"],
];

/**
 * "#/series/12?by=time" → {address, name, tab, argument, query}: the page's module, its entry of
 * the menu, and what the page is asked for. name is null where there is no such page.
 */
export function placeOf(hash) {
  const address = hash.replace(/^#\/?/, "");
  const [path, query] = address.split("?");
  for (const [pattern, name, tab] of routes) {
    const found = pattern.exec(path);
    if (found) return { address, name: name ?? path, tab: tab ?? path, argument: found[1],
      query: new URLSearchParams(query) };
  }
  return { address, name: null };
}

/** The page's module, loaded when it is first asked for: {title, load, view, news}. */
export const pageOf = async (name) => (await import(`./pages/${name}.js`)).page;
