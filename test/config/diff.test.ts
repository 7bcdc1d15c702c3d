import { afterAll, describe, expect, it } from "vitest";
import { diffHarness } from "../../src/config/diff.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { folderOf } from "./folder.ts";

const toolOf = (name: string, text = "x") => `export const ${name} = tool("${text}"); // of ${name}\n`;
const processorOf = (name: string, order = 20) =>
  `export class ${name} extends Processor { static order = ${order} }\n`;
const config = `prompt: Be brief.
skills: [file://$GENERATION/skills/s/SKILL.md]
processors:
  - {_target_: file://$GENERATION/processors/a.ts::A, chars: 200}
  - {_target_: file://$GENERATION/processors/b.ts::B}
tools:
  builtin: [Read]
  custom: [file://$GENERATION/tools/one.ts::one, file://$GENERATION/tools/two.ts::two]
  allowlist: [Read, one, two]
`;
const files = {
  "config.yaml": config,
  "skills/s/SKILL.md": "---\nname: s\ndescription: d\n---\ntext\n",
  "processors/a.ts": processorOf("A"),
  "processors/b.ts": processorOf("B"),
  "tools/one.ts": toolOf("one"),
  "tools/two.ts": toolOf("two"),
};

const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});
function load(changes: Record<string, string> = {}) {
  const folder = folderOf({ ...files, ...changes });
  folders.push(folder);
  return loadHarness(folder.dir);
}
const diff = (changes: Record<string, string>) => diffHarness(load(), load(changes));
const withConfig = (from: string, to: string) => ({ "config.yaml": config.replace(from, to) });

describe("diffHarness", () => {
  it("finds nothing in a renamed file, a comment or other line ends", () => {
    const same = diff({
      "config.yaml": config.replace("a.ts", "z.ts").replaceAll("\n", "\r\n"),
      "processors/z.ts": `// moved\n${processorOf("A")}`,
      "tools/one.ts": toolOf("one").replace("// of one", "// better words"),
    });
    const none = { added: [], removed: [], changed: [], order: undefined };
    expect(same).toEqual({
      tools: none,
      processors: none,
      skills: none,
      prompt: undefined,
      knobs: [],
      leversTouched: [],
    });
  });

  it("shows an added tool with its code; its name on the allowlist is part of it", () => {
    const added = diff({
      "config.yaml": config
        .replace("::two]", "::two, file://$GENERATION/tools/three.ts::three]")
        .replace("one, two]", "one, two, three]"),
      "tools/three.ts": toolOf("three"),
    });
    expect(added.tools.added).toEqual([{ name: "three", text: toolOf("three") }]);
    expect(added.knobs).toEqual([]);
    expect(added.leversTouched).toEqual(["tool"]);
  });

  it.each([
    [
      "tool removed",
      { "config.yaml": config.replace(", file://$GENERATION/tools/two.ts::two", "").replace(", two]", "]") },
      ["tool"],
    ],
    ["tool's code", { "tools/one.ts": toolOf("one", "y") }, ["tool"]],
    [
      "processor removed",
      withConfig("  - {_target_: file://$GENERATION/processors/b.ts::B}\n", ""),
      ["processor"],
    ],
    ["processor's code", { "processors/a.ts": processorOf("A", 30) }, ["processor"]],
    [
      "processor twice",
      withConfig("tools:\n", "  - {_target_: file://$GENERATION/processors/b.ts::B}\ntools:\n"),
      ["processor"],
    ],
    ["prompt", withConfig("Be brief.", "Be long."), ["prompt"]],
    ["skill's text", { "skills/s/SKILL.md": files["skills/s/SKILL.md"].replace("text", "more") }, ["prompt"]],
    ["skill removed", withConfig("skills: [file://$GENERATION/skills/s/SKILL.md]\n", ""), ["prompt"]],
    ["limit", withConfig("prompt:", "limits: {max_steps: 5}\nprompt:"), ["config"]],
    ["option", withConfig("200", "300"), ["config"]],
    ["builtin list", withConfig("[Read]", "[Read, Grep]"), ["config"]],
    ["allowlist", withConfig("one, two]", "one]"), ["config"]],
    [
      "two levers",
      { ...withConfig("Be brief.", "Be long."), "tools/one.ts": toolOf("one", "y") },
      ["tool", "prompt"],
    ],
  ])("says which levers a change touches: %s", (_name, changes, expected) => {
    expect(diff(changes).leversTouched).toEqual(expected);
  });

  it("shows values before and after", () => {
    const changed = diff({
      "config.yaml": config
        .replace("200", "300")
        .replace("prompt:", "limits: {max_steps: 5}\nprompt:")
        .replace("one, two]", "two]"),
      "tools/one.ts": toolOf("one", "y"),
    });
    expect(changed.tools.changed).toEqual([
      { name: "one", before: toolOf("one"), after: toolOf("one", "y") },
    ]);
    expect(changed.knobs).toEqual([
      { path: "limits.max_steps", before: 20, after: 5 },
      { path: "tools.allowlist", before: ["Read", "one", "two"], after: ["Read", "two"] },
      { path: "processors.A.chars", before: 200, after: 300 },
    ]);
  });

  it("sees that processors or tools stand in another order", () => {
    const lines = config.split("\n");
    const swapped = [...lines.slice(0, 3), lines[4], lines[3], ...lines.slice(5)].join("\n");
    const processors = diff({ "config.yaml": swapped });
    expect(processors.processors.order).toEqual({ before: ["A", "B"], after: ["B", "A"] });
    expect(processors.leversTouched).toEqual(["processor"]);
    const one = "file://$GENERATION/tools/one.ts::one";
    const two = "file://$GENERATION/tools/two.ts::two";
    expect(diff(withConfig(`${one}, ${two}`, `${two}, ${one}`)).leversTouched).toEqual(["tool"]);
  });

  it("touches a lever exactly when the behaviour differs", () => {
    const variants = [
      {},
      withConfig("200", "201"),
      { "tools/one.ts": `${toolOf("one")}\n\n// x` },
      withConfig("brief", "kind"),
    ].map(load);
    for (const a of variants) {
      for (const b of variants) {
        expect(diffHarness(a, b).leversTouched.length === 0).toBe(a.behaviourHash === b.behaviourHash);
      }
    }
  });
});
