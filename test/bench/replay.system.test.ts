import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { replayRecord, selfReplay } from "../../src/bench/replay.ts";
import { rollOut } from "../../src/bench/rollouts.ts";
import { createScriptedModel } from "../../src/model/scripted.ts";
import { createFence } from "../../src/sandbox/fence.ts";
import { call, calling, ofType } from "../support/agent.ts";
import { benchOf, harnessFolder, task } from "./bench-of.ts";

const { dir, harness } = harnessFolder();
const resources = join(dir, "resources");
mkdirSync(resources);
writeFileSync(join(resources, "facts.jsonl"), '{"text":"a fact"}\n{"text":"another"}\n');
const fence = await createFence({ resources, weakest: "weak", maxWorkers: 2, callTimeoutMs: 1500 });
afterAll(() => fence.close());

const source = (name: string, body: string) => `
import { tool } from "lorimer/tools";
import { z } from "zod";
export const ${name} = tool({ description: "A tool.", input: z.object({}), async run(_input, context) { ${body} } });`;
const files = {
  "config.yaml": `
prompt: Be brief.
tools:
  builtin: [Read]
  custom: ["file://$GENERATION/tools/note.ts::note", "file://$GENERATION/tools/count.ts::count", "file://$GENERATION/tools/hang.ts::hang"]
processors:
  - _target_: file://$GENERATION/processors/cut.ts::Cut
limits: { max_steps: 6 }
`,
  "tools/note.ts": source(
    "note",
    `await context.workspace.write("note.txt", "a note"); return "noted " + Math.random();`,
  ),
  "tools/count.ts": source("count", `return String((await context.resource("facts.jsonl")).length);`),
  "tools/hang.ts": source("hang", "for (;;);"),
  "processors/cut.ts": `
import { Processor } from "lorimer/processors";
export class Cut extends Processor {
  async *onAfterTool(event) {
    yield { ...event, result: event.call.name + ": " + event.result.slice(0, 40) };
  }
  async *onBeforeModel(event) {
    const tail = event.messages.at(-1);
    if (tail.role === "user") return yield event;
    yield { ...event, messages: [...event.messages, { role: "user", content: "Step " + event.step }] };
  }
}`,
};
const replies = [
  calling(call("note"), call("Read", { path: "workspace/note.txt" })),
  calling(call("hang"), call("count")),
  calling(call("Read", { path: "resources/facts.jsonl" })),
];
const model = createScriptedModel(
  ({ messages }) => replies[messages.filter(({ role }) => role === "assistant").length] ?? "The answer.",
);
const bench = { ...benchOf({ model, resources }), fence };
const champion = harness(files);
const { events: record } = await rollOut(
  bench,
  { harness: champion, task: task("The answer."), split: "evolve", seed: 1 },
  "key",
);

describe("in the fence", () => {
  test("the record is whole, with a hang that became a result", () => {
    expect(ofType(record, "tool-result").map(({ name, isError }) => [name, isError])).toEqual([
      ["note", false],
      ["Read", false],
      ["hang", true],
      ["count", false],
      ["Read", false],
    ]);
    expect(ofType(record, "rollout-end")[0]).toMatchObject({ exitReason: "done", answer: "The answer." });
  });

  test("the champion replays itself, without running what hung", async () => {
    expect(await selfReplay(bench, [record], champion)).toEqual({ replayable: [true], causes: {} });
    expect(await replayRecord(bench, record, { harness: champion, champion })).toMatchObject({
      divergence: undefined,
      faults: [],
    });
  });

  test("a tool with other code runs there, on the workspace that the recorded calls left", async () => {
    const body = `
      const [name] = await context.workspace.list();
      return name === "note.txt" ? String((await context.resource("facts.jsonl")).length) : "empty";`;
    const same = harness({ ...files, "tools/count.ts": source("count", body) });
    expect(await replayRecord(bench, record, { harness: same, champion })).toMatchObject({
      divergence: undefined,
      faults: [],
    });
    const other = harness({ ...files, "tools/count.ts": source("count", `return "many";`) });
    const { divergence } = await replayRecord(bench, record, { harness: other, champion });
    expect(divergence).toEqual({ step: 2, cause: { kind: "tool", name: "count" } });
  });

  test("a record in which a worker died with a processor's state in it is not replayable", async () => {
    const code = `
import { Processor } from "lorimer/processors";
export class Cut extends Processor {
  seen = 0;
  async *onAfterTool(event) { yield { ...event, result: String(++this.seen) }; }
}`;
    const counting = harness({ ...files, "processors/cut.ts": code });
    const request = { harness: counting, task: task("The answer."), split: "evolve", seed: 1 } as const;
    const { events } = await rollOut(bench, request, "key");
    expect(ofType(events, "tool-result").map(({ result }) => result)).toEqual(["1", "2", "1", "2", "3"]);
    expect((await selfReplay(bench, [events], counting)).replayable).toEqual([false]);
  });

  test("a processor with other code differs where it first does another thing", async () => {
    const code = files["processors/cut.ts"].replace("slice(0, 40)", "slice(0, 10)");
    const changed = harness({ ...files, "processors/cut.ts": code });
    const { divergence } = await replayRecord(bench, record, { harness: changed, champion });
    expect(divergence).toEqual({ step: 1, cause: { kind: "processor", name: "Cut" } });
  });

  test("the folder of resources is as it was", () => {
    expect(existsSync(join(resources, "note.txt"))).toBe(false);
  });
});
