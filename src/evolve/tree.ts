import type { LoadedHarness } from "../config/harness.ts";

/** The tree of a generation: the canonical config, what it names, and the candidate's papers under `.lorimer/`. */
export function committedFiles(
  harness: LoadedHarness,
  papers: ReadonlyMap<string, string> = new Map(),
): Map<string, string> {
  const files = new Map([["config.yaml", harness.canonical], ...harness.files]);
  for (const [path, text] of papers) {
    if (path.startsWith("_meta_scratch/")) files.set(path.replace("_meta_scratch/", ".lorimer/"), text);
  }
  return files;
}
