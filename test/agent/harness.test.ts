import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { openHarness } from "../../src/agent/build.ts";
import { allowed, orderProcessors } from "../../src/agent/harness.ts";
import { PartError } from "../../src/agent/parts.ts";
import { renderTask } from "../../src/agent/task-prompt.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { processor, runSetup } from "../support/agent.ts";
import { inProcessLoader } from "../support/in-process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-harness-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let folders = 0;
function load(files: Record<string, string>) {
  const dir = join(scratch, String(folders++));
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), text);
  }
  return loadHarness(dir);
}

const open = (files: Record<string, string>, allowlist: readonly string[] = ["*"]) =>
  openHarness(load(files), { loader: inProcessLoader(), resources: undefined, allowlist });

const part = (name: string, placed: Parameters<typeof processor>[2] = {}) => processor(name, {}, placed);
const namesOf = (parts: readonly { name: string }[]) => parts.map(({ name }) => name);

describe("processors run", () => {
  test("by order, and by the list where that ties", () => {
    const parts = [
      part("otel", { order: 30 }),
      part("loop-detection", { order: 20 }),
      part("guard"),
      part("token-budget", { order: 10 }),
      part("cost-guard", { order: 10 }),
      part("tail", { order: 25 }),
    ];
    expect(namesOf(orderProcessors(parts))).toEqual([
      ...["token-budget", "cost-guard", "loop-detection", "guard", "tail", "otel"],
    ]);
  });

  test("behind the groups of their `after`, where those are present", () => {
    const parts = [
      part("early", { order: 5, after: ["strip", "absent"] }),
      part("middle", { order: 20 }),
      part("strip", { order: 30, group: "strip" }),
    ];
    expect(namesOf(orderProcessors(parts))).toEqual(["middle", "strip", "early"]);
  });

  test("stable: sorted by order, every one once", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 12 }), (orders) => {
        const parts = orders.map((order, index) =>
          part(`${order}-${String(index).padStart(2, "0")}`, { order }),
        );
        expect(namesOf(orderProcessors(parts))).toEqual(namesOf(parts).sort());
      }),
    );
  });

  test("in that order on every hook", async () => {
    const called: string[] = [];
    const noting = (name: string, order: number) =>
      processor(
        name,
        {
          *onStepStart(event) {
            called.push(name);
            yield event;
          },
        },
        { order },
      );
    const processors = orderProcessors([noting("late", 30), noting("early", 10), noting("normal", 20)]);
    await runSetup({ replies: ["The answer."], processors });
    expect(called).toEqual(["early", "normal", "late"]);
  });

  test("not at all when two are of one group", () => {
    const parts = [part("First", { group: "guard" }), part("Other"), part("Second", { group: "guard" })];
    expect(() => orderProcessors(parts)).toThrow("First and Second are both of group guard");
    expect(() => orderProcessors(parts)).toThrow(PartError);
  });

  test("not at all when they wait for each other", () => {
    const parts = [part("A", { group: "a", after: ["b"] }), part("B", { group: "b", after: ["a"] })];
    expect(() => orderProcessors(parts)).toThrow("`after` of A, B is a circle");
    expect(namesOf(orderProcessors([part("A", { group: "a", after: ["a"] })]))).toEqual(["A"]);
  });
});

describe("the allowlist", () => {
  test.each([
    [["*"], null, undefined],
    [["*"], ["a"], ["a"]],
    [["a", "b"], null, ["a", "b"]],
    [["a", "b"], ["b"], ["b"]],
    [["a"], ["a", "b"], ["a"]],
    [["a"], ["*"], []],
    [["a"], [], []],
    [[], null, []],
  ])("of recipe %j and config %j is %j", (recipe, config, expected) => {
    const found = allowed(recipe, config);
    expect(found && [...found]).toEqual(expected);
  });

  test("is never wider than the recipe's", () => {
    const names = fc.array(fc.constantFrom("a", "b", "c", "*"), { maxLength: 4 });
    fc.assert(
      fc.property(names, fc.option(names), (recipe, config) => {
        if (recipe.includes("*")) return;
        for (const name of allowed(recipe, config) ?? ["everything"]) expect(recipe).toContain(name);
      }),
    );
  });

  test("narrows what runs", async () => {
    const config = { "config.yaml": "prompt: Hello.\ntools: { builtin: [Read, Glob], allowlist: [Glob] }\n" };
    expect((await open(config)).harness.allowlist).toEqual(new Set(["Glob"]));
    expect((await open(config, ["Read"])).harness.allowlist).toEqual(new Set());
    expect((await open(config, ["Read"])).harness.tools.size).toBe(2);
  });
});

const skill = (name: string, text: string) =>
  `---\nname: ${name}\ndescription: How to ${name}.\n---\n${text}`;
const withSkills = {
  "config.yaml": `
prompt: Do the task.
skills: ["file://$GENERATION/skills/submit/SKILL.md", "file://$GENERATION/skills/empty/SKILL.md"]
`,
  "skills/submit/SKILL.md": skill("submit", "Step one: the secret handshake."),
  "skills/empty/SKILL.md": skill("empty", ""),
};

test("skills are one line each in the prompt, and their text comes by invoke_skill", async () => {
  const { harness } = await open(withSkills);
  expect(harness.systemPrompt).toBe(
    "Do the task.\n\nSkills (load one with invoke_skill):\n- submit: How to submit.\n- empty: How to empty.",
  );
  const invoke = harness.tools.get("invoke_skill");
  const invoked = async (name: unknown) => await invoke?.run({ name });
  expect(await invoked("submit")).toEqual({ result: "Step one: the secret handshake.", isError: false });
  expect(await invoked("empty")).toEqual({ result: "[the skill empty has no text]", isError: false });
  for (const name of ["nope", undefined, 3])
    expect(await invoked(name)).toMatchObject({
      isError: true,
      result: expect.stringMatching(/^\[invoke_skill failed: .*skills: submit, empty\]$/),
    });
});

test("without skills there is no invoke_skill, and the prompt is as written", async () => {
  const { harness } = await open({ "config.yaml": "prompt: Do the task.\n" });
  expect(harness).toMatchObject({ systemPrompt: "Do the task.", processors: [] });
  expect([...harness.tools.keys()]).toEqual([]);
});

const tailSource = `
import { Processor } from "lorimer/processors";
import { z } from "zod";
export class ToolErrorTail extends Processor {
  static order = 25;
  static group = "tool-error-tail";
  static options = z.object({ tail_chars: z.number().int().default(200) });
  async *onAfterTool(event) {
    if (!event.isError) return yield event;
    yield { ...event, result: event.result + "\\n\\n[tail] " + event.result.slice(-this.options.tail_chars).trim() };
  }
}`;

test.each([
  ["as given", "tail_chars: 50", 50],
  ["by default", "", 200],
])("a processor gets its options %s, and puts the tail behind errors only", async (_what, option, chars) => {
  const { harness } = await open({
    "config.yaml": `
prompt: Do the task.
processors:
  - _target_: file://$GENERATION/processors/tail.ts::ToolErrorTail
    ${option}
`,
    "processors/tail.ts": tailSource,
  });
  const long = { isError: true, result: `first ${"x".repeat(300)}` };
  const after = async (outcome: { isError: boolean; result: string }) => {
    const call = { id: "a", name: "t", input: {} };
    const [event] =
      (await harness.processors[0]?.run("onAfterTool", { type: "after-tool", step: 0, call, ...outcome })) ??
      [];
    return (event as { result: string }).result;
  };
  expect(await after(long)).toBe(`${long.result}\n\n[tail] ${"x".repeat(chars)}`);
  expect(await after({ isError: true, result: "short " })).toBe("short \n\n[tail] short");
  expect(await after({ isError: false, result: long.result })).toBe(long.result);
});

test("a part that cannot be built refuses the harness, and what was opened is closed", async () => {
  const closed: string[] = [];
  const inner = inProcessLoader();
  const loader = {
    open: async (parts: Parameters<typeof inner.open>[0]) => {
      const opened = await inner.open(parts);
      const close = async () => {
        closed.push("closed");
        return await opened.close();
      };
      return { ...opened, close };
    },
  };
  const twice = (name: string) => `
import { Processor } from "lorimer/processors";
export class ${name} extends Processor { static group = "guard"; async *onStepEnd(event) { yield event; } }`;
  const loaded = load({
    "config.yaml": `
prompt: Do the task.
processors:
  - _target_: file://$GENERATION/processors/a.ts::First
  - _target_: file://$GENERATION/processors/b.ts::Second
`,
    "processors/a.ts": twice("First"),
    "processors/b.ts": twice("Second"),
  });
  await expect(openHarness(loaded, { loader, resources: undefined, allowlist: ["*"] })).rejects.toThrow(
    "First and Second are both of group guard",
  );
  expect(closed).toEqual(["closed"]);
});

describe("the user turn", () => {
  const spec = {
    name: "triage",
    trigger: "mail came",
    inputs: ["body", "history"],
    decisions: {
      route: { options: ["junk", "inbox"], reversible: true },
      note: { reversible: false },
    },
    writeback: "log.jsonl",
    eval_gate: { must_call: null, must_include: null, max_iters: 4 },
    allowlist: ["*"],
  };

  test("says all of the spec, with what is missing first and the inputs last", () => {
    expect(renderTask(spec, { body: "Hello", other: "x" })).toBe(
      [
        "Task: triage",
        "Trigger: mail came",
        "Decisions:",
        "- route: one of junk, inbox (reversible)",
        "- note: free (not reversible)",
        "Write the decision to: log.jsonl",
        "Inputs:",
        "- history: not provided",
        "- body: Hello",
        "- other: x",
      ].join("\n"),
    );
  });

  test("takes a plain text for the first input", () => {
    expect(renderTask(spec, "Hello")).toMatch(/- history: not provided\n- body: Hello$/);
    expect(renderTask({ ...spec, inputs: [] }, "Hello")).toMatch(/- input: Hello$/);
  });

  test("takes no name for provided that is not", () => {
    expect(renderTask({ ...spec, inputs: ["constructor"] }, {})).toContain("- constructor: not provided");
  });

  test("without a spec is the input", () => {
    expect(renderTask(undefined, "Hello")).toBe("Hello");
    expect(renderTask(undefined, { a: "1", b: "2" })).toBe("- a: 1\n- b: 2");
  });
});
