import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { packageRoot } from "../../src/lib/package-root.ts";
import type { RunSummary } from "../../src/report/summary.ts";
import { inboxTriage, temporaryFolders } from "./support/lorimer.ts";
import { linkPackage } from "./support/recipe-copy.ts";
import { writeTinyRecipe } from "./support/tiny-recipe.ts";

const temporary = temporaryFolders();
let project: string;

/** What is packed, unpacked where npm would put it, beside nothing but what package.json says that it depends on. */
beforeAll(() => {
  project = temporary();
  const packed = execFileSync(
    "npm",
    ["pack", packageRoot, "--ignore-scripts", "--silent", "--pack-destination", project],
    { cwd: project, encoding: "utf8" },
  ).trim();
  const installed = join(project, "node_modules/lorimer");
  mkdirSync(installed, { recursive: true });
  execFileSync("tar", ["-xzf", join(project, packed), "--strip-components=1", "-C", installed]);
  const manifest = JSON.parse(readFileSync(join(installed, "package.json"), "utf8")) as {
    bin: { lorimer: string };
    dependencies: Record<string, string>;
  };
  for (const name of Object.keys(manifest.dependencies))
    linkPackage(join(project, "node_modules", name), join(packageRoot, "node_modules", name));
  mkdirSync(join(project, "node_modules/.bin"));
  symlinkSync(join(installed, manifest.bin.lorimer), join(project, "node_modules/.bin/lorimer"));
});

function lorimer(...args: string[]): string {
  return execFileSync("npx", ["--no-install", "lorimer", ...args], {
    cwd: project,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  });
}

test("it holds what a user needs, and neither sources nor tests", () => {
  const installed = join(project, "node_modules/lorimer");
  const files = execFileSync("find", [installed, "-type", "f", "-printf", "%P\n"], { encoding: "utf8" });
  for (const file of [
    "bin/lorimer.js",
    "dist/index.d.ts",
    "dist/sandbox/worker.cjs",
    "docs/sim.md",
    "LICENSE",
  ])
    expect(files).toContain(`${file}\n`);
  expect(files).not.toMatch(/^(src|test|runs|scripts)\//m);
});

test("doctor and schema run there", () => {
  expect(lorimer("doctor")).toMatch(/fence (full|partial|weak) .*used by default/);
  expect(JSON.parse(lorimer("schema", "config"))).toHaveProperty("properties.prompt");
});

test("evolve runs there on a recipe of one's own", () => {
  writeTinyRecipe(join(project, "my-recipe"));
  const summary = JSON.parse(lorimer("evolve", "my-recipe", "--seed", "7", "--json")) as RunSummary;
  expect(summary.accepted).toBeGreaterThanOrEqual(3);
  expect(readFileSync(join(project, "runs/lending-desk-0001/journal.md"), "utf8")).toContain("gen/0003");
});

test("the shipped recipe, copied there, finds lorimer and the mails", () => {
  cpSync(inboxTriage, join(project, "triage"), { recursive: true });
  linkPackage(join(project, "node_modules/@stdlib"), join(packageRoot, "node_modules/@stdlib"));
  const pass = JSON.parse(lorimer("run", "triage", "--json")) as { n: number; score: number };
  expect(pass.n).toBe(100);
  expect(pass.score).toBeLessThan(0.2);
});
