import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { RunSummary } from "../../src/report/summary.ts";
import { json, lorimer, succeed, temporaryFolders } from "./support/lorimer.ts";
import { writeTinyRecipe } from "./support/tiny-recipe.ts";

const temporary = temporaryFolders();
const short = ["--rounds", "1", "--candidates", "1"];

function setUp(changes: Record<string, unknown> = {}) {
  const dir = temporary();
  const runs = join(dir, "runs");
  return { recipe: writeTinyRecipe(join(dir, "recipe"), changes), runs, on: ["--runs", runs] };
}

test.concurrent("an answer to a note survives the run, and is in the next round's brief", async () => {
  const { recipe, runs, on } = setUp();
  await succeed(["evolve", recipe, ...on, "--rounds", "1"]);
  const [note] = await json<{ id: string; status: string }[]>(["needs", ...on]);
  expect(note?.status).toBe("open");
  const said = "The desk keeps no such book; work without it.";
  await succeed(["needs", "answer", note?.id ?? "", said, ...on]);
  expect(await succeed(["needs", ...on])).toContain("nothing is asked for");
  expect(await json(["needs", "--all", ...on])).toMatchObject([{ status: "answered", answer: said }]);
  await succeed(["evolve", "--resume", ...on, "--rounds", "2"]);
  const brief = (candidate: string) =>
    readFileSync(join(runs, "lending-desk-0001/candidates", candidate, "_meta_scratch/TASK.md"), "utf8");
  expect(brief("R01-C01")).not.toContain(said);
  expect(brief("R02-C01")).toContain(said);
  expect(await json(["needs", "--all", ...on])).toHaveLength(1);
  const denied = await json<{ status: string }>(["needs", "deny", note?.id ?? "", ...on]);
  expect(denied.status).toBe("denied");
});

test.concurrent("looks at one sealed split are counted over runs", async () => {
  const { recipe, on } = setUp();
  for (const seed of ["1", "2"]) await succeed(["evolve", recipe, ...on, ...short, "--seed", seed]);
  expect(await succeed(["final", "lending-desk-0001", ...on])).not.toContain("reused");
  expect(await succeed(["final", "lending-desk-0002", ...on])).toContain("reused (2)");
  expect(await json(["final", "lending-desk-0002", ...on])).toMatchObject({ looks: 2, stored: true });
});

test.concurrent("a budget of rollouts is kept to, and what it bought stands", async () => {
  const { recipe, on } = setUp({ budgets: { rounds: 5, candidates: 4, alpha: 0.5, rollouts: 420 } });
  const summary = await json<RunSummary>(["evolve", recipe, ...on]);
  expect(summary.rollouts.paid).toBeLessThanOrEqual(420);
  expect(summary.stopped_by).toContain("420");
  expect(summary.champion?.n).toBeGreaterThan(0);
});

test.concurrent("a run that accepts nothing says so, and --require-improvement makes it the exit code", async () => {
  const replies = ["I keep my counsel.", "LANE shelf"];
  const { recipe, on } = setUp({
    models: { agent: { kind: "scripted", replies } },
    budgets: { patience: 1 },
    controls: { null_every: 0 },
  });
  const { code, stdout } = await lorimer(["evolve", recipe, ...on, "--require-improvement"]);
  expect(code).toBe(1);
  expect(stdout).toContain("model kind scripted");
  expect(stdout).not.toContain("gen/0001");
  expect(await json(["status", ...on])).toMatchObject({ accepted: 0, champion: { generation: 0 } });
});

test.concurrent("one task with one harness: a scoreboard and a trajectory to look at", async () => {
  const { recipe, on } = setUp();
  interface Pass {
    run: string;
    n: number;
    tasks: { task: string; rollout: string }[];
  }
  const { tasks } = await json<Pass>(["run", recipe, ...on]);
  const task = tasks[3]?.task ?? "";
  const one = await json<Pass>(["run", recipe, "--task", task, "--model", "{kind: sim, habit: 1}", ...on]);
  expect(one).toMatchObject({ n: 1, tasks: [{ task }], model: { kind: "sim" } });
  const rollout = one.tasks[0]?.rollout ?? "";
  expect(await succeed(["trajectory", rollout.slice(0, 12), "--run", one.run, ...on])).toContain("LANE ");
  expect(await succeed(["list", ...on])).toMatch(/a single pass\n.*a single pass/);
  const sealed = await lorimer(["run", recipe, "--split", "test", ...on]);
  expect(sealed).toMatchObject({ code: 2, stdout: "" });
  expect(sealed.stderr).toContain("sealed");
});
