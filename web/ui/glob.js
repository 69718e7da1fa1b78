// Words of a workload's name, and globs over names as the service reads them.

/** Words in any part of a workload's name become a glob; a glob is taken as it is. */
export function globOf(text) {
  const words = text.trim().split(/\s+/).filter(Boolean);
  return words.length === 1 && /[*?]/.test(words[0]) ? words[0] : ["", ...words, ""].join("**");
}

/** Whether a glob with * (within a part), ** (over parts) and ? matches the whole name. */
export function globMatch(glob, name) {
  const pattern = glob.split("**").map((part) => part.replace(/[.+^${}()|[\]\\]/g, "\\$&")
    .replace(/\*/g, "[^/]*").replace(/\?/g, "[^/]")).join(".*");
  return new RegExp(`^${pattern}$`).test(name);
}
