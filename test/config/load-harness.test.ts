import { mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { canonicalConfig } from "../../src/config/canonical.ts";
import { harnessConfigSchema } from "../../src/config/harness-schema.ts";
import { type LoadOptions, loadHarness } from "../../src/config/load-harness.ts";
import { parseYamlText, validateYaml } from "../../src/config/yaml.ts";
import { errorOf, folderOf } from "./folder.ts";

const tool = `import { tool } from "lorimer/tools";
import { z } from "zod";
// a note
export const look_up = tool({ description: "looks up", input: z.object({ text: z.string() }), run: ({ text }) => text });
`;
const processor = `import { Processor } from "lorimer/processors";
export class Tail extends Processor {}
`;
const skill = "---\nname: submit\ndescription: How to submit\n---\n\n# Submit\nDo it.\n";
const config = `prompt: file://$GENERATION/prompts/system.md
skills: [file://$GENERATION/skills/submit/SKILL.md]
processors:
  - _target_: file://$GENERATION/processors/tail.ts::Tail
    tail_chars: 200
tools:
  builtin: [Read, Grep]
  custom:
    - file://$GENERATION/tools/look-up.ts::look_up
  allowlist: [Read, look_up]
limits: { max_steps: 12, exclusive: [look_up] }
`;
const files = {
  "config.yaml": config,
  "prompts/system.md": "You triage.\nBriefly.\n",
  "skills/submit/SKILL.md": skill,
  "processors/tail.ts": processor,
  "tools/look-up.ts": tool,
};

const folders: { remove(): void }[] = [];
afterAll(() => {
  for (const folder of folders) folder.remove();
});
function generation(changes: Record<string, string | Uint8Array> = {}): string {
  const folder = folderOf({ ...files, ...changes });
  folders.push(folder);
  return folder.dir;
}
const load = (changes: Record<string, string | Uint8Array> = {}, options?: LoadOptions) =>
  loadHarness(generation(changes), options);
const failure = (changes: Record<string, string | Uint8Array>, options?: LoadOptions) => {
  const error = errorOf(() => load(changes, options));
  expect(error.hint).toBeTruthy();
  return error;
};
/** The error of a config with these lines, without the folder before config.yaml. */
const refusal = (lines: string, options?: LoadOptions) => {
  const error = failure({ "config.yaml": lines }, options);
  expect(error.code).toBe("config");
  return error.message.replace(/^[^:]*\/config\.yaml/, "config.yaml");
};

describe("loadHarness", () => {
  it("resolves every file that the config names", () => {
    const dir = generation();
    const harness = loadHarness(dir);
    expect(harness.dir).toBe(dir);
    expect(harness.prompt).toBe("You triage.\nBriefly.\n");
    expect(harness.skills).toEqual([
      { name: "submit", description: "How to submit", text: "# Submit\nDo it.\n" },
    ]);
    expect(
      harness.parts.map(({ kind, file, exportName, options }) => ({ kind, file, exportName, options })),
    ).toEqual([
      { kind: "processor", file: "processors/tail.ts", exportName: "Tail", options: { tail_chars: 200 } },
      { kind: "tool", file: "tools/look-up.ts", exportName: "look_up", options: {} },
    ]);
    expect([...harness.files.keys()].sort()).toEqual(
      Object.keys(files)
        .filter((name) => name !== "config.yaml")
        .sort(),
    );
    expect(harness.config.limits.max_seconds).toBe(300);
    expect(harness.canonical).toContain("file://$GENERATION/tools/look-up.ts::look_up");
  });

  it("takes a plain text as the prompt and needs nothing else", () => {
    const harness = load({ "config.yaml": "prompt: |\n  Do it.\n" });
    expect(harness).toMatchObject({ prompt: "Do it.\n", parts: [], skills: [] });
    expect(harness.files.size).toBe(0);
  });

  it("accepts absolute paths inside the folder and commits them as $GENERATION", () => {
    const dir = generation();
    writeFileSync(join(dir, "config.yaml"), config.replaceAll("file://$GENERATION/", `file://${dir}/`));
    const harness = loadHarness(dir);
    const plain = load();
    expect(harness.canonical).toBe(plain.canonical);
    expect(harness.generationHash).toBe(plain.generationHash);
  });

  it("loads through a link to the folder, and after the folder was moved", () => {
    const dir = generation();
    const { generationHash } = loadHarness(dir);
    const link = join(generation(), "link");
    symlinkSync(dir, link);
    writeFileSync(
      join(dir, "config.yaml"),
      config.replace("file://$GENERATION/prompts", `file://${link}/prompts`),
    );
    expect(loadHarness(link)).toMatchObject({ dir, generationHash });
    writeFileSync(join(dir, "config.yaml"), config);
    renameSync(dir, `${dir}-moved`);
    expect(loadHarness(`${dir}-moved`).generationHash).toBe(generationHash);
    renameSync(`${dir}-moved`, dir);
  });

  it("accepts tool_registry for tools, but not both", () => {
    const aliased = config.replace("tools:\n", "tool_registry:\n");
    expect(load({ "config.yaml": aliased }).canonical).toBe(load().canonical);
    expect(refusal("prompt: x\ntools: {}\ntool_registry: {}")).toMatch(
      /^config\.yaml:3:1: at tool_registry: is the same as `tools`, at .*config\.yaml:2:1$/,
    );
    expect(refusal("prompt: x\ntool_registry:\n  builtin: [Raed]")).toMatch(
      /^config\.yaml:3:13: .*did you mean `Read`/,
    );
  });

  it("says what is missing", () => {
    expect(errorOf(() => loadHarness("/nowhere/at-all"))).toMatchObject({ code: "missing" });
  });
});

describe("references", () => {
  const custom = (reference: string) => refusal(`prompt: x\ntools:\n  custom:\n    - ${reference}\n`);
  const outside = folderOf({ "x.ts": tool });
  folders.push(outside);

  it.each([
    ["file://./tools/look-up.ts::look_up", "is a relative path"],
    ["file://tools/look-up.ts::look_up", "is a relative path"],
    ["file://../x.ts::f", "is a relative path"],
    ["tools/look-up.ts::look_up", "is no file of the generation"],
    ["http://example.org/x.ts::f", "is no file of the generation"],
    ["file://$GENERATION/../x.ts::f", "leaves the generation's folder"],
    ["file://$GENERATION/tools/../../x.ts::f", "leaves the generation's folder"],
    ["file:///etc/passwd::f", "leaves the generation's folder"],
    [`file://${outside.dir}/x.ts::look_up`, "leaves the generation's folder"],
    ["file://$GENERATION/::f", "leaves the generation's folder"],
    ["file://$GENERATION/tools::f", "is no plain, readable file"],
    ["file://$GENERATION/tools/none.ts::f", "does not exist"],
    ["file://$GENERATION/tools/look-up.ts/x::f", "does not exist"],
    ["file://$GENERATION/tools/look-up.ts", "names no export"],
    ['"file://$GENERATION/tools/look-up.ts::"', "names no export"],
    ["file://$GENERATION/tools/look-up.ts::a-b", "names no export"],
    ["file://$GENERATION/config.yaml::f", "is not part of a generation"],
    ["file://$GENERATION/_meta_scratch/x.ts::f", "is not part of a generation"],
    ["file://$GENERATION/.git/x.ts::f", "is not part of a generation"],
    ['"file://$GENERATION/a\\0b.ts::f"', "has a control character"],
  ])("refuses %s: %s", (reference, reason) => {
    const message = custom(reference);
    expect(message).toMatch(/^config\.yaml:4:7: at tools\.custom\[0\]: `/);
    expect(message).toContain(reason);
  });

  it("names the entry in every kind of list", () => {
    expect(refusal("prompt: file://./p.md")).toMatch(/^config\.yaml:1:1: at prompt: .*relative/);
    expect(refusal("prompt: file://$GENERATION/tools/look-up.ts::x")).toContain("names an export of a text");
    expect(refusal("prompt: x\nskills:\n  - skills/a.md")).toMatch(/^config\.yaml:3:5: at skills\[0\]: /);
    expect(refusal("prompt: x\nprocessors:\n  - _target_: p.ts::P")).toMatch(
      /^config\.yaml:3:5: at processors\[0\]\._target_: /,
    );
    expect(refusal("prompt: x\nprocessors:\n  - _target_: lorimer/token-budget")).toContain(
      "are not in this version",
    );
    expect(refusal("prompt: x\nprocessors:\n  - tail: 1")).toContain("at processors[0]._target_: is missing");
  });

  it("refuses a symlink anywhere on the path, also one that stays inside", () => {
    const dir = generation();
    symlinkSync(join(dir, "tools/look-up.ts"), join(dir, "tools/link.ts"));
    symlinkSync(join(dir, "tools"), join(dir, "linked"));
    symlinkSync(outside.dir, join(dir, "away"));
    symlinkSync(join(dir, "loop"), join(dir, "loop"));
    for (const path of ["tools/link.ts", "linked/look-up.ts", "away/x.ts", "loop"]) {
      writeFileSync(
        join(dir, "config.yaml"),
        `prompt: x\ntools: {custom: ["file://$GENERATION/${path}::look_up"]}`,
      );
      expect(errorOf(() => loadHarness(dir)).message).toMatch(/symlink/);
    }
    const linked = generation();
    mkdirSync(join(linked, "sub"));
    symlinkSync(join(dir, "config.yaml"), join(linked, "sub/config.yaml"));
    expect(errorOf(() => loadHarness(join(linked, "sub"))).message).toContain("a symlink");
  });

  it("refuses big files and bytes that are not UTF-8", () => {
    expect(failure({ "tools/look-up.ts": `//${"x".repeat(262_144)}` }).message).toContain("262144 bytes");
    const bad = Buffer.concat([Buffer.from("ok\nno"), Buffer.from([0xff])]);
    expect(failure({ "prompts/system.md": bad }).message).toMatch(
      /config\.yaml:1:1: prompts\/system\.md:2:3: a byte that is not UTF-8$/,
    );
  });

  it("names the place of a syntax error in an authored file", () => {
    expect(failure({ "tools/look-up.ts": "export const look_up = ;" }).message).toMatch(
      /tools\/look-up\.ts:1:24: /,
    );
  });
});

describe("skills", () => {
  it("C04: reads front matter with CRLF and a byte order mark", () => {
    expect(load({ "skills/submit/SKILL.md": `\uFEFF${skill.replaceAll("\n", "\r\n")}` }).skills).toEqual(
      load().skills,
    );
  });

  it.each([
    ["# no front matter\n", ":1:1: no front matter"],
    ["---\nname: a\ndescription: b\n", ":1:1: no front matter"],
    ["---\n---\ntext", ":1:1: the file is empty"],
    ["---\nname: a\n---\n", ":2:1: at description: is missing"],
    ["---\nname: a b\ndescription: x\n---\n", ":2:1: at name: letters, digits"],
    ["---\nname: a\ndescripton: x\n---\n", ":3:1: at descripton: unknown key, did you mean `description`?"],
    ["---\nname: a\nname: b\n---\n", ":3:1: duplicate key `name`, first at "],
  ])("refuses %j", (text, message) => {
    expect(failure({ "skills/submit/SKILL.md": text }).message).toContain(`skills/submit/SKILL.md${message}`);
  });

  it("refuses two of one name", () => {
    const message = failure({
      "config.yaml":
        "prompt: x\nskills:\n  - file://$GENERATION/skills/submit/SKILL.md\n  - file://$GENERATION/skills/b.md\n",
      "skills/b.md": skill,
    }).message;
    expect(message).toMatch(
      /config\.yaml:4:5: at skills\[1\]: a second skill named `submit`, the first is at .*:3:5$/,
    );
  });
});

describe("names and limits", () => {
  const custom = "custom: [file://$GENERATION/tools/look-up.ts::look_up]";

  it("tells unknown built-in tools from those that are not in this version", () => {
    expect(refusal("prompt: x\ntools: {builtin: [Read, Gerp]}")).toBe(
      "config.yaml:2:25: at tools.builtin[1]: no built-in tool `Gerp`, did you mean `Grep`?",
    );
    expect(refusal("prompt: x\ntools: {builtin: [Bash]}")).toContain("Bash is not in this version");
    expect(refusal("prompt: x\ntools: {builtin: [WebSearch]}")).toContain(
      "WebSearch needs a search provider",
    );
  });

  it("refuses two tools of one name", () => {
    expect(refusal("prompt: x\ntools: {builtin: [Read, Read]}")).toMatch(/a second tool named `Read`/);
    const twice = `prompt: x\ntools:\n  custom:\n${"    - file://$GENERATION/tools/look-up.ts::look_up\n".repeat(2)}`;
    expect(refusal(twice)).toMatch(/^config\.yaml:5:7: at tools\.custom\[1\]: a second tool named `look_up`/);
    expect(
      refusal("prompt: x\ntools: {builtin: [Read], custom: [file://$GENERATION/tools/look-up.ts::Read]}"),
    ).toMatch(/a second tool named `Read`/);
    const skills = "skills: [file://$GENERATION/skills/submit/SKILL.md]";
    expect(
      refusal(`prompt: x\n${skills}\ntools: {custom: ["file://$GENERATION/tools/look-up.ts::invoke_skill"]}`),
    ).toMatch(/a second tool named `invoke_skill`/);
  });

  it("refuses names on lists that are no tool of the config", () => {
    expect(refusal(`prompt: x\ntools: {${custom}, allowlist: [lookup]}`)).toContain(
      "at tools.allowlist[0]: `lookup` is no tool of this config, did you mean `look_up`?",
    );
    expect(refusal("prompt: x\nlimits: {exclusive: [play_move]}")).toContain("at limits.exclusive[0]");
  });

  it("lets the config only narrow the recipe's allowlist", () => {
    const text = `prompt: x\ntools: {builtin: [Read], ${custom}, allowlist: [Read, look_up]}`;
    expect(refusal(text, { allowlist: ["Read"] })).toMatch(
      /at tools\.allowlist\[1\]: `look_up` is not on the recipe's allowlist \(Read\)$/,
    );
    expect(load({ "config.yaml": text }, { allowlist: ["*"] }).config.tools.allowlist).toEqual([
      "Read",
      "look_up",
    ]);
    expect(load({ "config.yaml": text }, { allowlist: ["Read", "look_up", "Grep"] }).parts).toHaveLength(1);
  });

  it("refuses limits above the recipe's ceilings, also by default", () => {
    const ceilings = { max_steps: 10, max_tokens: 500_000, max_cost_usd: 1, max_seconds: 600 };
    expect(refusal("prompt: x\nlimits:\n  max_steps: 11", { ceilings })).toBe(
      "config.yaml:3:3: at limits.max_steps: 11 is above the recipe's ceiling of 10",
    );
    expect(refusal("prompt: x", { ceilings })).toContain("at limits.max_steps: 20 is above");
    expect(
      load({ "config.yaml": "prompt: x\nlimits: {max_steps: 10}" }, { ceilings }).config.limits.max_steps,
    ).toBe(10);
  });
});

describe("canonical form and hashes", () => {
  const read = (text: string) => validateYaml(harnessConfigSchema, parseYamlText(text, { path: "c.yaml" }));

  it("C09: writing the canonical form again gives the same bytes, for any config", () => {
    const names = fc.array(fc.constantFrom("Read", "b", "a", "0"), { maxLength: 4 });
    const scalar = fc.oneof(fc.string({ unit: "grapheme" }), fc.integer(), fc.boolean());
    const key = fc
      .string({ unit: "grapheme-ascii" })
      .filter((name) => !["__proto__", "_target_"].includes(name));
    const configs = fc.record(
      {
        prompt: fc.string({ unit: "grapheme" }),
        skills: names,
        processors: fc.array(
          fc
            .tuple(fc.dictionary(key, fc.oneof(scalar, fc.array(scalar)), { maxKeys: 3 }), fc.string())
            .map(([options, target]) => ({ ...options, _target_: target })),
          { maxLength: 3 },
        ),
        tools: fc.record({ builtin: names, allowlist: fc.option(names) }, { requiredKeys: [] }),
        limits: fc.record(
          { max_steps: fc.integer({ min: 1, max: 500 }), exclusive: names },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: ["prompt"] },
    );
    fc.assert(
      fc.property(configs, (value) => {
        const once = canonicalConfig(harnessConfigSchema.parse(value));
        expect(canonicalConfig(read(once))).toBe(once);
      }),
      { numRuns: 100 },
    );
  });

  it("loads the canonical form as the same generation", () => {
    const harness = load();
    const again = load({ "config.yaml": harness.canonical });
    expect(again).toMatchObject({
      canonical: harness.canonical,
      generationHash: harness.generationHash,
      behaviourHash: harness.behaviourHash,
    });
  });

  const same: [string, Record<string, string>][] = [
    ["a comment in the code", { "tools/look-up.ts": tool.replace("// a note", "/* another */\n\n") }],
    ["white space in the code", { "processors/tail.ts": processor.replaceAll(" {", "\n  {") }],
    ["a comment in the config", { "config.yaml": `# note\n${config}` }],
    [
      "the order of keys",
      { "config.yaml": config.split("\n").slice(-2).concat(config.split("\n").slice(0, -2)).join("\n") },
    ],
    [
      "a default written out",
      { "config.yaml": config.replace("max_steps: 12", "max_seconds: 300, max_steps: 12") },
    ],
    ["the order of allowed names", { "config.yaml": config.replace("[Read, look_up]", "[look_up, Read]") }],
    [
      "the prompt in the config",
      { "config.yaml": config.replace("file://$GENERATION/prompts/system.md", '"You triage.\\nBriefly."') },
    ],
    ["another file name", { "config.yaml": config.replace("tail.ts", "z.ts"), "processors/z.ts": processor }],
    [
      "CRLF",
      Object.fromEntries(Object.entries(files).map(([name, text]) => [name, text.replaceAll("\n", "\r\n")])),
    ],
  ];
  it.each(same)("keeps the behaviour hash for %s", (name, changes) => {
    const before = load();
    const after = load(changes);
    expect(after.behaviourHash).toBe(before.behaviourHash);
    const sameFiles = [
      "CRLF",
      "a comment in the config",
      "the order of keys",
      "a default written out",
      "the order of allowed names",
    ];
    expect(after.generationHash === before.generationHash).toBe(sameFiles.includes(name));
  });

  const twoProcessors = (first: string, second: string) =>
    config.replace(
      "    tail_chars: 200\n",
      `    tail_chars: ${first}\n  - _target_: file://$GENERATION/processors/tail.ts::Tail\n    tail_chars: ${second}\n`,
    );
  const other: [string, Record<string, string>][] = [
    ["the tool's text", { "tools/look-up.ts": tool.replace("looks up", "looks  up") }],
    ["the processor's code", { "processors/tail.ts": processor.replace("{}", "{ static order = 30; }") }],
    ["an option", { "config.yaml": config.replace("200", "201") }],
    ["a limit", { "config.yaml": config.replace("12", "13") }],
    ["the prompt", { "prompts/system.md": "You triage. Briefly.\n" }],
    ["the skill's text", { "skills/submit/SKILL.md": skill.replace("Do it", "Do it now") }],
    ["the skill's line", { "skills/submit/SKILL.md": skill.replace("How to", "How you") }],
    ["the order of built-in tools", { "config.yaml": config.replace("[Read, Grep]", "[Grep, Read]") }],
    ["no allowlist", { "config.yaml": config.replace("  allowlist: [Read, look_up]\n", "") }],
    ["an empty allowlist", { "config.yaml": config.replace("[Read, look_up]", "[]") }],
    ["one exclusive tool less", { "config.yaml": config.replace("exclusive: [look_up]", "exclusive: []") }],
    ["two processors", { "config.yaml": twoProcessors("1", "2") }],
    ["two processors in the other order", { "config.yaml": twoProcessors("2", "1") }],
  ];
  it("changes both hashes for every change of behaviour, and tells all of them apart", () => {
    const harnesses = [load(), ...other.map(([, changes]) => load(changes))];
    expect(new Set(harnesses.map(({ behaviourHash }) => behaviourHash)).size).toBe(other.length + 1);
    expect(new Set(harnesses.map(({ generationHash }) => generationHash)).size).toBe(other.length + 1);
  });

  it("does not look at files that the config does not name", () => {
    const dir = generation({
      "tools/unused.ts": "broken = ;",
      "tsconfig.json": '{"compilerOptions": {"target": "es5"}}',
    });
    expect(loadHarness(dir).generationHash).toBe(load().generationHash);
  });
});
