import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkToolSpec, specFile, specInputs } from "../../src/checks/tool-spec.ts";
import { packageRoot } from "../../src/lib/package-root.ts";
import { contextOf, proposalOf, recordOf, subjectOf } from "./papers.ts";

const records = [
  recordOf("r1", {
    task: "t1",
    input: "the bee book is overdue",
    steps: [{ said: "no", call: { name: "find", input: { text: "bee" } } }],
  }),
  recordOf("r2", { task: "t2", input: "the ferry book is overdue" }),
  recordOf("r3", { task: "t1", input: "the bee book is overdue" }),
  recordOf("r4", { task: "t4", outcome: "pass", input: "the kite book is lost" }),
];

const good = {
  "Capability name": "Finds past records that are like a text.",
  "Class, not single task": "Messages about loans that are judged by precedent.",
  "Inputs the agent will pass": "- `the bee book is overdue`\n- `the ferry book is overdue`",
  "Output shape the caller needs": "One record a line, best first.",
  "Failure modes": "- nothing alike: `[find failed: nothing]`\n* no text: an error result",
};

type Sections = Partial<Record<keyof typeof good, string>>;

function spec(changes: Sections = {}): string {
  const sections = Object.entries({ ...good, ...changes }).filter(([, text]) => text !== "");
  return ["# TOOL_SPEC: find", ...sections.map(([name, text]) => `## ${name}\n\n${text}`)].join("\n\n");
}

const check = (text: string | undefined, lever: "tool" | "prompt" = "tool") =>
  checkToolSpec(
    subjectOf({
      proposal: proposalOf({ lever }),
      frozen: { files: new Map(text === undefined ? [] : [[specFile, text]]), hash: "" },
    }),
    contextOf({ records }),
  )?.map(({ message }) => message);

test("a whole specification passes; other levers need none", () => {
  expect(check(spec())).toEqual([]);
  expect(check(spec().replaceAll("\n", "\r\n"))).toEqual([]);
  expect(check(undefined, "prompt")).toBeUndefined();
});

test("the template that is shipped names every section", () => {
  const template = readFileSync(join(packageRoot, "_meta_scratch/templates/TOOL_SPEC.md"), "utf8");
  for (const section of ["Capability", "Class", "Inputs", "Output", "Failure modes"])
    expect(template).toMatch(new RegExp(`^## ${section}`, "m"));
});

describe("a specification is refused", () => {
  test("that is not there", () => {
    expect(check(undefined)).toEqual(["a tool candidate needs a TOOL_SPEC.md"]);
  });

  test.each(Object.keys(good) as (keyof typeof good)[])("without the section %s", (section) => {
    expect(check(spec({ [section]: "" }))?.[0]).toContain("sections missing or empty: ");
    expect(check(spec({ [section]: "TODO" }))?.[0]).toContain("sections missing or empty: ");
  });

  test("that quotes no input", () => {
    expect(check(spec({ "Inputs the agent will pass": "Whatever the agent likes." }))).toEqual([
      "names no input",
    ]);
    expect(check(spec({ "Inputs the agent will pass": "Blank ones: `   `" }))).toEqual(["names no input"]);
  });

  test.each([
    ["invented", "the moth book is overdue"],
    ["from a passing trajectory", "the kite book is lost"],
    ["only in the system prompt", "Be good."],
  ])("whose input is %s", (_name, input) => {
    const inputs = `- \`the bee book is overdue\`\n- \`the ferry book is overdue\`\n- \`${input}\``;
    expect(check(spec({ "Inputs the agent will pass": inputs }))).toEqual([
      `the input \`${input}\` is in no failing trajectory`,
    ]);
  });

  test("whose inputs come from one task, in however many rollouts", () => {
    expect(check(spec({ "Inputs the agent will pass": "- `bee book`\n- `the bee book is`" }))).toEqual([
      "its inputs come from 1 failing task",
    ]);
  });

  test("that names no failure mode, or one without what the tool returns", () => {
    expect(check(spec({ "Failure modes": "It never fails, I think." }))).toEqual(["names no failure mode"]);
    expect(check(spec({ "Failure modes": "- nothing alike\n- no text: an error" }))).toEqual([
      "a failure mode without what the tool returns: - nothing alike",
    ]);
  });
});

test("inputs are what stands in back ticks in their section only, and a section twice counts whole", () => {
  const inputs = "Inputs the agent will pass";
  expect(specInputs(spec({ "Failure modes": "- `x y`: `z`" }))).toEqual([
    "the bee book is overdue",
    "the ferry book is overdue",
  ]);
  expect(specInputs(`## ${inputs}\n\`first one\`\n## Output\n\`no\`\n## ${inputs}\n\`second one\``)).toEqual([
    "first one",
    "second one",
  ]);
});
