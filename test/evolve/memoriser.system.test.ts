import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { renderTask } from "../../src/agent/task-prompt.ts";
import { buildLiteralCorpus } from "../../src/checks/literals/corpus.ts";
import { runChecks } from "../../src/checks/run-checks.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import type { Task } from "../../src/config/recipe-schema.ts";
import { hashedMemoriser, plainMemoriser } from "../../src/evolve/memoriser.ts";
import { createFence } from "../../src/sandbox/fence.ts";
import { libraryDesk } from "../support/library-desk.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-memoriser-"));
const fence = await createFence({ weakest: "weak" });
afterAll(async () => {
  await fence.close();
  rmSync(scratch, { recursive: true, force: true });
});

const birds = [
  "bittern",
  "dunlins",
  "fieldfare",
  "goosander",
  "nightjar",
  "ptarmigan",
  "redpoll",
  "whimbrel",
];
const tasks: Task[] = birds.map((bird, index) => ({
  id: `bird-${index}`,
  input: { message: `Where is the ${bird} of the north?` },
  expected: index % 2 === 0 ? "DESK rooms" : "DESK loans",
}));
const { spec } = loadRecipe(libraryDesk).recipe;
const literals = { evolve: buildLiteralCorpus(tasks, []) };
const champion = loadHarness(join(libraryDesk, "baseline"));

function write(memoriser: typeof plainMemoriser, material = { tasks, common: [] as string[] }): string {
  const dir = mkdtempSync(join(scratch, "candidate-"));
  memoriser(champion, material, dir);
  return dir;
}

const check = async (dir: string) => {
  const { ok, checks } = await runChecks(dir, { load: {}, literals });
  return { ok, failed: checks.filter(({ status }) => status === "fail").map(({ name }) => name) };
};

test("in plain words it is caught by the literals check, and by nothing before", async () => {
  expect(await check(write(plainMemoriser))).toEqual({ ok: false, failed: ["literals"] });
});

test("hashed it passes every static check: it is for the gate to refuse", async () => {
  expect(await check(write(hashedMemoriser))).toEqual({ ok: true, failed: [] });
});

test("both are the same for the same tasks", () => {
  for (const memoriser of [plainMemoriser, hashedMemoriser]) {
    const [one, two] = [write(memoriser), write(memoriser)].map((dir) => loadHarness(dir).generationHash);
    expect(one).toBe(two);
  }
});

describe("hashed, in the fence,", () => {
  const promptFor = async (dir: string, input: Task["input"]) => {
    const open = await fence.loader.open(loadHarness(dir).parts);
    const task = renderTask(spec, input);
    const event = { type: "task-start", task, tools: [], systemPrompt: "Be good." };
    const [yielded] = (await open.processors[0]?.run("onTaskStart", event)) ?? [];
    await open.close();
    return (yielded as { systemPrompt: string }).systemPrompt;
  };

  test("it tells the answer of each task that it has seen, and of no other", async () => {
    const dir = write(hashedMemoriser);
    for (const { input, expected } of tasks)
      expect(await promptFor(dir, input)).toMatch(new RegExp(`it is ${expected.split(" ")[1]}\\.$`));
    expect(await promptFor(dir, { message: "Where is the kestrel of the north?" })).toBe("Be good.");
  });

  test("it goes by no word of the recipe's user turn, nor of a common text", async () => {
    const trigger: Task = { id: "a", input: { message: "the trigger was" }, expected: "DESK rooms" };
    const dir = write(hashedMemoriser, { tasks: [trigger, ...tasks], common: ["A redpoll is a finch."] });
    expect(await promptFor(dir, { message: "the kestrel" })).toBe("Be good.");
    expect(await promptFor(dir, tasks[6]?.input ?? "")).toBe("Be good.");
    expect(await promptFor(dir, tasks[0]?.input ?? "")).toContain('"bittern" it is rooms');
  });
});
