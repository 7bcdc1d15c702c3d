import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { describe, expect, it } from "vitest";

const src = resolve(import.meta.dirname, "../src");

/** Who may import whom; type-only imports count. */
const mayImport: Record<string, string[]> = {
  lib: [],
  config: ["lib"],
  stats: ["lib"],
  trace: ["config", "lib"],
  model: ["trace", "config", "lib"],
  store: ["trace", "config", "lib"],
  agent: ["model", "trace", "config", "lib"],
  sandbox: ["agent", "trace", "config", "lib"],
  bench: ["sandbox", "agent", "store", "model", "trace", "stats", "config", "lib"],
  checks: ["bench", "sandbox", "agent", "store", "model", "trace", "stats", "config", "lib"],
  proposers: ["agent", "sandbox", "store", "model", "trace", "config", "lib"],
  evolve: ["proposers", "checks", "bench", "stats", "store", "model", "trace", "config", "lib"],
  report: ["store", "trace", "stats", "config", "lib"],
};

const files = readdirSync(src, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
const folderOf = (path: string) => (path.includes("/") ? (path.split("/")[0] ?? "") : "");

/** What runs behind the fence has no command line to leave printing to. */
const runsInTheFence = (file: string) =>
  file.startsWith("sandbox/worker/") || file === "sandbox/raw-probe.ts";

/** Files of ours that a file imports, relative to src/. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(src, file), "utf8");
  const specifiers = [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, path = ""]) => path);
  return specifiers.map((path) => relative(src, resolve(dirname(join(src, file)), path)));
}

describe("the layout", () => {
  it("sees the files and their imports", () => {
    expect(files.length).toBeGreaterThan(100);
    expect(importsOf("evolve/loop.ts")).toContain("evolve/observe.ts");
  });

  it("has an import rule for every folder", () => {
    const folders = new Set(files.map(folderOf).filter((folder) => folder !== "" && folder !== "cli"));
    expect([...folders].sort()).toEqual(Object.keys(mayImport).sort());
  });

  it("keeps the direction of imports", () => {
    const wrong = files.flatMap((file) => {
      const allowed = mayImport[folderOf(file)];
      if (allowed === undefined) return [];
      return importsOf(file)
        .filter((target) => folderOf(target) !== folderOf(file) && !allowed.includes(folderOf(target)))
        .map((target) => `${file} → ${target}`);
    });
    expect(wrong).toEqual([]);
  });

  it("lets nobody import the command line", () => {
    const wrong = files.filter(
      (file) =>
        folderOf(file) !== "cli" &&
        file !== "cli.ts" &&
        importsOf(file).some((target) => target.startsWith("cli")),
    );
    expect(wrong).toEqual([]);
  });

  it("prints and exits only in the command line", () => {
    const wrong = files.filter((file) => {
      if (folderOf(file) === "cli" || file === "cli.ts" || runsInTheFence(file)) return false;
      return /\bconsole\.|process\.(exit\(|exitCode|stdout|stderr)/.test(
        readFileSync(join(src, file), "utf8"),
      );
    });
    expect(wrong).toEqual([]);
  });

  it("keeps the loop readable", () => {
    const lines = readFileSync(join(src, "evolve/loop.ts"), "utf8").split("\n").length;
    expect(lines).toBeLessThanOrEqual(120);
  });
});
