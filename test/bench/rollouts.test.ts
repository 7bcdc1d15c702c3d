import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import type { PartLoader } from "../../src/agent/parts.ts";
import { type RolloutRequest, rolloutKey, runRollouts } from "../../src/bench/rollouts.ts";
import { LorimerError } from "../../src/lib/errors.ts";
import { Budget } from "../../src/model/budget.ts";
import { createScriptedModel } from "../../src/model/scripted.ts";
import { Ledger } from "../../src/store/ledger.ts";
import { createRun } from "../../src/store/run-folder.ts";
import { readTrajectory } from "../../src/store/trajectory.ts";
import { manifest } from "../store/manifest.ts";
import { call, calling } from "../support/agent.ts";
import { inProcessLoader } from "../support/in-process.ts";
import { benchOf, harnessFolder, task } from "./bench-of.ts";

const { dir, harness } = harnessFolder();
const bare = harness({ "config.yaml": "prompt: Be brief.\n" });
const withTool = harness({
  "config.yaml": "prompt: Be brief.\ntools: { custom: ['file://$GENERATION/tools/look.ts::look'] }\n",
  "tools/look.ts": `
import { tool } from "lorimer/tools";
import { z } from "zod";
export const look = tool({ description: "Looks.", input: z.object({}), run: () => "seen" });`,
});

const ledgers: Ledger[] = [];
afterAll(() => Promise.all(ledgers.map((ledger) => ledger.close())));

let runs = 0;
/** A run of its own, with a bench whose model says the right answer to a seed below 10. */
async function deskOf({ loader, rollouts = 100 }: { loader?: PartLoader; rollouts?: number } = {}) {
  let asked = 0;
  const model = createScriptedModel(({ seed, tools, messages }) => {
    asked++;
    if (tools.length > 0 && messages.at(-1)?.role === "user") return calling(call("look"));
    return seed < 10 ? "The answer." : "No idea.";
  });
  const run = createRun(join(dir, `runs-${runs++}`), "tiny", manifest);
  const stop = new AbortController();
  const how: string[] = [];
  const ledger = await Ledger.open(run.ledgerFile);
  ledgers.push(ledger);
  const desk = {
    bench: benchOf({ model, ...(loader && { loader }) }),
    run,
    ledger,
    budget: new Budget({ rollouts, usd: 0 }),
    signal: stop.signal,
    onRollout: (_scored: unknown, kind: string) => void how.push(kind),
  };
  return { desk, run, stop, how, asked: () => asked };
}

const requestOf = (seed: number, loaded = bare): RolloutRequest => ({
  harness: loaded,
  task: task("The answer."),
  split: "evolve",
  seed,
});
const purpose = { purpose: "test" };

test("results come in the order of the requests, scored and with their trajectories", async () => {
  const { desk, run } = await deskOf();
  const scored = await runRollouts(
    { ...desk, bench: { ...desk.bench, concurrency: 4 } },
    [11, 2, 3].map((seed) => requestOf(seed)),
    purpose,
  );
  expect(scored.map(({ seed, outcome, score }) => [seed, outcome, score])).toEqual([
    [11, "fail", 0],
    [2, "pass", 1],
    [3, "pass", 1],
  ]);
  for (const { key } of scored) {
    const { events } = readTrajectory(run.rolloutFile(key));
    expect(events.at(0)).toMatchObject({ type: "rollout-start", rollout: key });
    expect(events.at(-1)).toMatchObject({ type: "rollout-end", exitReason: "done" });
  }
  const [failed] = scored;
  const page = readFileSync(run.rolloutFile(failed?.key ?? "").replace(/jsonl$/, "md"), "utf8");
  expect(page).toContain("outcome: fail");
  // The reason quotes the expected answer: the ledger has it, the trajectory must not.
  expect(failed?.reason).toContain("The answer.");
  expect(page).not.toContain("The answer.");
  expect(readFileSync(run.rolloutFile(failed?.key ?? ""), "utf8")).not.toContain("The answer.");
});

test("what the ledger holds is not paid for again", async () => {
  const { desk, how, asked } = await deskOf();
  const requests = [1, 2].map((seed) => requestOf(seed));
  const first = await runRollouts(desk, requests, purpose);
  const again = await runRollouts(desk, requests, { purpose: "another" });
  expect(again).toEqual(first);
  expect(how).toEqual(["paid", "paid", "memo", "memo"]);
  expect(asked()).toBe(2);
  expect(desk.budget.spent.rollouts).toBe(2);
});

describe("the key", () => {
  const bench = benchOf({});
  const key = rolloutKey(bench, requestOf(1));
  test.each<[string, string]>([
    ["seed", rolloutKey(bench, requestOf(2))],
    ["split", rolloutKey(bench, { ...requestOf(1), split: "gate" })],
    ["harness", rolloutKey(bench, requestOf(1, withTool))],
    ["task", rolloutKey(bench, { ...requestOf(1), task: task("Another.") })],
    ["resources", rolloutKey({ ...bench, resources: { ...bench.resources, hash: "other" } }, requestOf(1))],
    ["runtime", rolloutKey({ ...bench, runtime: "other" }, requestOf(1))],
  ])("differs by %s", (_what, other) => {
    expect(other).not.toBe(key);
  });

  test("does not depend on the evaluator", () => {
    const evaluator = { ...bench.evaluator, hash: "other" };
    expect(rolloutKey({ ...bench, evaluator }, requestOf(1))).toBe(key);
  });
});

test("a budget that is reached ends the batch, and what was paid for is kept", async () => {
  const { desk } = await deskOf({ rollouts: 2 });
  const requests = [1, 2, 3].map((seed) => requestOf(seed));
  await expect(runRollouts(desk, requests, purpose)).rejects.toMatchObject({ name: "BudgetReached" });
  expect(await runRollouts(desk, requests.slice(0, 2), purpose)).toHaveLength(2);
});

test("an interruption starts nothing new", async () => {
  const { desk, stop, asked } = await deskOf();
  stop.abort();
  await expect(runRollouts(desk, [requestOf(1)], purpose)).rejects.toMatchObject({ code: "interrupted" });
  expect(asked()).toBe(0);
});

describe("what the fence breaks", () => {
  const breaking = (times: number) => {
    const inner = inProcessLoader();
    let left = times;
    const loader: PartLoader = {
      async open(parts) {
        const opened = await inner.open(parts);
        const run = async () => {
          if (left-- > 0) throw new LorimerError("infra", "the fence is gone");
          return { result: "seen", isError: false };
        };
        return { ...opened, tools: opened.tools.map((tool) => ({ ...tool, run })) };
      },
    };
    return loader;
  };

  test("is tried again", async () => {
    const { desk } = await deskOf({ loader: breaking(2) });
    expect(await runRollouts(desk, [requestOf(1, withTool)], purpose)).toMatchObject([
      { outcome: "pass", score: 1, tool_calls: 1 },
    ]);
  });

  test("again and again is infrastructure, never a score, and leaves its trajectory", async () => {
    const { desk, run } = await deskOf({ loader: breaking(99) });
    const [scored] = await runRollouts(desk, [requestOf(1, withTool)], purpose);
    expect(scored).toMatchObject({ outcome: "infra", score: null, reason: "the fence is gone" });
    const { events } = readTrajectory(run.rolloutFile(scored?.key ?? ""));
    expect(events.map(({ type }) => type)).toEqual([
      ...["rollout-start", "messages-append", "model-request", "model-reply", "messages-append", "tool-call"],
    ]);
    expect(existsSync(run.rolloutFile(scored?.key ?? "").replace(/jsonl$/, "md"))).toBe(true);
  });
});

test("a harness that cannot be built fails its rollouts, with a trajectory that says why", async () => {
  const twice = `
import { Processor } from "lorimer/processors";
export class Guard extends Processor { static group = "guard"; async *onStepEnd(event) { yield event; } }`;
  const target = (name: string) => `{ _target_: 'file://$GENERATION/processors/${name}.ts::Guard' }`;
  const unbuilt = harness({
    "config.yaml": `prompt: Be brief.\nprocessors: [${target("a")}, ${target("b")}]\n`,
    "processors/a.ts": twice,
    "processors/b.ts": twice,
  });
  const { desk, run } = await deskOf();
  const [scored] = await runRollouts(desk, [requestOf(1, unbuilt)], purpose);
  expect(scored).toMatchObject({ outcome: "fail", score: 0, exit_reason: "error", steps: 0 });
  expect(readTrajectory(run.rolloutFile(scored?.key ?? "")).events.at(-1)).toMatchObject({
    type: "rollout-end",
    error: expect.stringContaining("Guard and Guard are both of group guard"),
  });
});
