import { lstatSync, readdirSync } from "node:fs";

/** The regular files below `root`, as sorted relative paths with forward slashes; links are left out. */
export function filesBelow(root: string, limit: number): string[] {
  const found: string[] = [];
  const walk = (prefix: string) => {
    for (const entry of readdirSync(`${root}/${prefix}`, { withFileTypes: true })) {
      if (found.length >= limit) return;
      if (entry.isFile()) found.push(prefix + entry.name);
      if (entry.isDirectory()) walk(`${prefix}${entry.name}/`);
    }
  };
  walk("");
  return found.sort();
}

/**
 * Checks a path below `root` step by step: no `..`, nothing absolute, no link on the way. Returns the real path.
 * `realpath` cannot serve here: Node's permission model refuses it outside the allowed folders.
 */
export function pathBelow(root: string, path: unknown): string {
  if (typeof path !== "string" || path === "") throw new Error("a path must be a non-empty string");
  const steps = path.split("/");
  if (path.includes("\0") || steps.some((step) => step === "" || step === "." || step === "..")) {
    throw new Error(`"${path}" is no path below the workspace, such as notes/a.txt`);
  }
  let at = root;
  for (const step of steps) {
    at = `${at}/${step}`;
    const found = lstatSync(at, { throwIfNoEntry: false });
    if (found !== undefined && !found.isFile() && !found.isDirectory()) {
      throw new Error(`"${path}" leads over a link or a special file`);
    }
  }
  return at;
}
