import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type Desk, openDesk, processorFile, toolFile, verdictOf } from "./desk.ts";

const desk: Desk = await openDesk();

const withProcessor = (members: string, options: Record<string, unknown> = {}) => {
  const { file, text, entry } = processorFile(members);
  return desk.candidate({
    config: { processors: [{ ...entry, ...options }] },
    files: { [file]: text },
    papers: { lever: "processor" },
  });
};

const withTool = (text: string, reference = "file://$GENERATION/tools/probe.ts::probe") =>
  desk.candidate({
    config: { tools: { builtin: ["Read"], custom: [reference] } },
    files: { "tools/probe.ts": text },
    papers: { lever: "tool" },
  });

const good = toolFile('return "fine"').text;

describe("what cannot be built is fatal, and nothing after it runs:", () => {
  test.each<[string, string, RegExp]>([
    [
      "an import that is not allowed",
      withTool(`import fs from "node:fs";\n${good}`),
      /"node:fs" may not be imported/,
    ],
    ["an import that is not there", withTool(`import x from "./helper.ts";\n${good}`), /may not be imported/],
    ["text that is no TypeScript", withTool("export const probe = tool({"), /tools\/probe\.ts/],
    ["a missing export", withTool("export const other = 1;\n"), /has no tool named probe/],
    [
      "two tools in a file",
      withTool(`${good}${good.replace(/^import.*$/gm, "").replace("probe =", "second =")}`),
      /exports 2 tools/,
    ],
    ["no tool at all", withTool("export const probe = { run() {} };\n"), /has no tool named probe/],
    ["a throw while it is loaded", withTool(`${good}\nthrow new Error("not today");\n`), /not today/],
    ["a loop while it is loaded", withTool(`${good}\nfor (;;) {}\n`), /timeout/],
    [
      "a constructor that throws",
      withProcessor('constructor() { super(); throw new Error("not me"); }'),
      /not me/,
    ],
    [
      "a hook that is none",
      withProcessor("async *onBeforeModle(event) { yield event; }"),
      /onBeforeModle is no hook.*onBeforeModel/,
    ],
    [
      "an option without a default",
      withProcessor("static override options = z.object({ size: z.number() });"),
      /every option needs a default/,
    ],
    [
      "an option of the wrong type",
      withProcessor("static override options = z.object({ size: z.number().default(1) });", {
        size: "big",
      }),
      /wrong options: size/,
    ],
    [
      "an option that it does not know",
      withProcessor("async *onStepEnd(event) { yield event; }", { sise: 1 }),
      /sise/,
    ],
  ])("%s", async (_name, dir, says) => {
    const validation = await desk.check(dir);
    const verdict = verdictOf(validation);
    expect(verdict.failed).toBe("canonicalize");
    expect(verdict.says).toMatch(says);
    expect(verdict.says).not.toContain(dir);
    expect(validation.ok).toBe(false);
    expect(validation.checks.slice(2).every(({ status }) => status === "skipped")).toBe(true);
  });
});

describe("refused are", () => {
  test("two processors of one name", async () => {
    const [one, two] = ["one", "two"].map((file) =>
      processorFile("async *onStepEnd(event) { yield event; }", { file }),
    );
    if (!one || !two) throw new Error("two files");
    const dir = desk.candidate({
      config: { processors: [one.entry, two.entry] },
      files: { [one.file]: one.text, [two.file]: two.text },
    });
    expect(verdictOf(await desk.check(dir)).says).toContain("a second processor named Probe");
  });

  test("a config that names more than the recipe allows", async () => {
    const dir = desk.candidate({ config: { limits: { max_steps: 400 } }, papers: { lever: "config" } });
    expect(verdictOf(await desk.check(dir))).toMatchObject({
      failed: "canonicalize",
      says: expect.stringContaining("above the recipe's ceiling"),
    });
  });

  test.each([
    ["missing", undefined, "no such file"],
    ["no YAML", "lever: [", "candidate.yaml"],
    ["without evidence", "parent: gen/0000\nlever: tool\nhypothesis: x\nevidence: []\n", "candidate.yaml"],
    ["a reason for none", "noop: nothing to do\n", "proposes nothing: nothing to do"],
  ])("a candidate.yaml that is %s", async (_name, text, says) => {
    const dir = desk.candidate({ config: { limits: { max_steps: 7 } } });
    const file = join(dir, "_meta_scratch/candidate.yaml");
    if (text === undefined) rmSync(file);
    else writeFileSync(file, text);
    const verdict = verdictOf(await desk.check(dir));
    expect(verdict.failed).toBe("canonicalize");
    expect(verdict.says).toContain(says);
  });
});
