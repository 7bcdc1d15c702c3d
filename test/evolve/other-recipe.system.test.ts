import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import { evolve } from "../../src/evolve/loop.ts";
import { type OpenRun, startRun } from "../../src/evolve/open.ts";
import { packageRoot } from "../../src/lib/package-root.ts";
import { stockPart } from "../../src/proposers/mechanic/stock.ts";
import { libraryDesk } from "../support/library-desk.ts";

// The stock parts know nothing of mail: on messages to a library they find as much, unchanged.
const runsDir = mkdtempSync(join(tmpdir(), "lorimer-library-"));
let run: OpenRun;

beforeAll(async () => {
  run = await startRun(loadRecipe(libraryDesk), {
    runsDir,
    seed: 7,
    concurrency: 2,
    signal: new AbortController().signal,
    listen: () => {},
    overrides: {},
  });
  await evolve(run);
});

afterAll(async () => {
  await run.close();
  rmSync(runsDir, { recursive: true, force: true });
});

test("the champion gains, by a tool, a processor and a prompt", () => {
  const accepted = run.ledger.all("committed").flatMap(({ candidate }) => candidate ?? []);
  const levers = run.ledger
    .all("candidate-proposed")
    .flatMap(({ candidate, lever }) => (accepted.includes(candidate) ? [lever] : []));
  expect(new Set(levers)).toEqual(new Set(["prompt", "tool", "processor"]));

  const scores = run.ledger.all("score-batch");
  const scoreOf = (which: string) => scores.find((batch) => batch.which === which)?.score ?? Number.NaN;
  expect(scoreOf("baseline")).toBeLessThan(0.2);
  expect(scoreOf("champion")).toBeGreaterThan(0.85);
});

test("its parts are the stock parts as they are shipped", async () => {
  const dir = await run.generations.exportTree(run.generations.list().length - 1, run.run.exportsDir);
  const read = (file: string) => readFileSync(join(dir, file), "utf8");
  expect(read("tools/similar-records.ts")).toBe(stockPart("tools", "similar-records"));
  expect(read("processors/input-cap.ts")).toBe(stockPart("processors", "input-cap"));
  expect(read("prompts/system.md")).toContain("DESK <desk>");
});

test("nothing of this recipe stands in lorimer, and nothing of mail in what it wrote", () => {
  const words = readFileSync(join(packageRoot, "recipes/inbox-triage/recipe.yaml"), "utf8");
  expect(words).not.toMatch(/\b(library|desk|loans|catalogue)\b/);
  for (const record of run.ledger.all("candidate-proposed"))
    expect(record.hypothesis).not.toMatch(/\b(mail|junk|inbox|spam)\b/i);
});

test("long messages kept the model from its tool's result, and the cap lets it see it", () => {
  const long = run.bench.splits.evolve.filter(({ input }) => JSON.stringify(input).length > 4000);
  expect(long.length).toBeGreaterThan(2);
  const ids = new Set(long.map(({ id }) => id));
  const rollouts = run.ledger
    .all("rollout-scored")
    .filter(({ split, purpose, task }) => split === "evolve" && purpose === "observe" && ids.has(task));
  const generations = [...new Set(rollouts.map(({ behaviour }) => behaviour))];
  const share = (behaviour: string | undefined) => {
    const own = rollouts.filter((rollout) => rollout.behaviour === behaviour);
    return own.filter(({ outcome }) => outcome === "pass").length / own.length;
  };
  expect(share(generations.at(-2))).toBeLessThan(0.5);
  expect(share(generations.at(-1))).toBeGreaterThan(0.8);
});
