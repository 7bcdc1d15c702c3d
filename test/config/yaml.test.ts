import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { candidateSchema } from "../../src/config/candidate-schema.ts";
import { canonicalYaml } from "../../src/config/canonical.ts";
import { harnessConfigSchema } from "../../src/config/harness-schema.ts";
import { recipeSchema } from "../../src/config/recipe-schema.ts";
import { parseYamlText, readYaml, validateYaml } from "../../src/config/yaml.ts";
import { errorOf, folderOf } from "./folder.ts";

const path = "c.yaml";
const parse = (text: string | Uint8Array) => parseYamlText(text, { path }).value;
const failure = (text: string | Uint8Array) => errorOf(() => parse(text));
const bytes = (...parts: (string | number[])[]) =>
  Buffer.concat(parts.map((part) => Buffer.from(part as string)));

describe("parseYamlText", () => {
  it("reads YAML 1.2 core: no is text, 0o7 is a number, << is a key", () => {
    expect(parse("a: no\nb: 0o7\nc: 1e3\nd: ~\n'<<': x")).toEqual({
      a: "no",
      b: 7,
      c: 1000,
      d: null,
      "<<": "x",
    });
  });

  it.each([
    [
      "limits:\n  max_steps: 10\n  x: 1\n  max_steps: 99\n",
      "c.yaml:4:3: duplicate key `max_steps`, first at c.yaml:2:3",
    ],
    ["a: {b: 1, b: 2}", "c.yaml:1:11: duplicate key `b`, first at c.yaml:1:5"],
    ["1: a\n'1': b", "c.yaml:2:1: duplicate key `1`, first at c.yaml:1:1"],
    ["a: 1\r\na: 2\r\n", "c.yaml:2:1: duplicate key `a`, first at c.yaml:1:1"],
    ["- {x: 1}\n- {y: 1, y: 1}", "c.yaml:2:10: duplicate key `y`, first at c.yaml:2:4"],
  ])("C01: refuses duplicate keys and names both places: %j", (text, message) => {
    expect(failure(text).message).toBe(message);
  });

  it("C03: drops a byte order mark", () => {
    expect(parse(bytes([0xef, 0xbb, 0xbf], "model: x"))).toEqual({ model: "x" });
    expect(parse("\uFEFFmodel: x")).toEqual({ model: "x" });
  });

  it("C04: reads CRLF and CR as LF, also in block text", () => {
    const text = "a: |\n  x\n  y\nb: [1,\n 2]\n";
    expect(parse(text.replaceAll("\n", "\r\n"))).toEqual(parse(text));
    expect(parse(text.replaceAll("\n", "\r"))).toEqual(parse(text));
  });

  it.each([
    ["", "c.yaml:1:1: the file is empty"],
    ["\n  \n", "c.yaml:1:1: the file is empty"],
    ["# only\n# comments\n", "c.yaml:1:1: the file is empty"],
    ["---\n", "c.yaml:1:1: the file is empty"],
    ["a:\n\tb: 1\n", "c.yaml:2:1: tabs are not allowed as indentation"],
    ["- 1\n", "c.yaml:1:1: the file must hold a map"],
    ["just text", "c.yaml:1:1: the file must hold a map"],
    ["---\na: 1\n---\nb: 2\n", "c.yaml:3:1: a second YAML document"],
    ["a: 1\nb: !!js/function 'x'\n", "c.yaml:2:"],
    ["a: !thing 1\n", "the tag `!thing` is not allowed"],
    ["a: !!set {x}\n", "is not allowed"],
    ["a: !thing {x: 1}\n", "the tag `!thing` is not allowed"],
    ["a: !!omap [x: 1]\n", "is not allowed"],
    ["!!map\na: !!seq [!!str 1, !!x {}]\n", "is not allowed"],
    ["a: !!binary aGk=\n", "is not allowed"],
    ["%YAML 1.1\n---\na: yes\n", "YAML 1.1 is asked for"],
    ["a: 'x\n", "c.yaml:2:1: missing closing"],
    ["a: [1, 2\nb: 3", "c.yaml:"],
    ["a: @x", "c.yaml:1:4: plain value cannot start with"],
    ["? {a: 1}\n: 2", "c.yaml:1:3: this cannot be a key"],
    ["~: 2", "c.yaml:1:1: this cannot be a key"],
    ["a:\n  __proto__: {b: 1}", "c.yaml:2:3: this cannot be a key"],
    ["a: .nan", "c.yaml:1:4: a number must be finite"],
    ["a: *missing", "c.yaml:1:4: no anchor named `missing` above"],
    ["a: &x [1, *x]", "c.yaml:1:11: an alias of what it stands in"],
  ])("C08: says what is wrong and where: %j", (text, message) => {
    const error = failure(text);
    expect(error.code).toBe("config");
    expect(error.exitCode).toBe(2);
    expect(error.message).toContain(message);
    expect(error.message).toMatch(/^c\.yaml:\d+:\d+: /);
    expect(error.message).not.toMatch(/\n\s+at /);
    expect(error.hint).toBeTruthy();
  });

  it.each([
    [bytes("a: ok\nb: caf", [0xe9], "\n"), "c.yaml:2:7: "],
    [bytes("é: ", [0xff]), "c.yaml:1:4: "],
    [bytes("a: 1\r\nb: ", [0xc3, 0x28]), "c.yaml:2:4: "],
    [bytes("a: ", [0xe2, 0x82]), "c.yaml:1:4: "],
    [bytes([0xff, 0xfe], "a"), "c.yaml:1:1: "],
  ])("C08: names line and column of a byte that is not UTF-8", (text, place) => {
    expect(failure(text).message).toBe(`${place}a byte that is not UTF-8`);
  });

  it("refuses alias bombs but not a plain alias", () => {
    const bomb = ["a0: &a0 [x,x,x,x,x,x,x,x,x]"];
    for (let n = 1; n < 9; n++)
      bomb.push(
        `a${n}: &a${n} [${Array(9)
          .fill(`*a${n - 1}`)
          .join(",")}]`,
      );
    expect(failure(bomb.join("\n")).message).toContain("too many aliases");
    expect(parse("a: &x [1]\nb: *x")).toEqual({ a: [1], b: [1] });
  });

  it.each([
    ["brackets", `a: ${"[".repeat(20_000)}`],
    ["maps", `a: ${"{a: ".repeat(20_000)}`],
    ["lists", `a:\n${"- ".repeat(20_000)}`],
    ["keys", "? ".repeat(20_000)],
    ["blocks", Array.from({ length: 300 }, (_, depth) => `${" ".repeat(depth)}a:\n`).join("")],
  ])("refuses deep nesting of %s instead of ending the process", (_name, text) => {
    expect(failure(text).message).toMatch(/^c\.yaml:\d+:\d+: nested more than 64 levels deep$/);
  });

  it("never throws anything but a LorimerError", () => {
    const piece = fc.constantFrom(
      ..."[]{}:-?&*!|>'\"%@#,~ \t\n\ra1\u0000\ud800".split(""),
      "---\n",
      "<<",
      "&a ",
      "*a ",
      "!!x ",
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 40 }), (pieces) => {
        try {
          parse(pieces.join(""));
        } catch (error) {
          expect(error).toHaveProperty("name", "LorimerError");
        }
      }),
      { numRuns: 1000 },
    );
  });

  it("reads back what canonicalYaml writes, and writes the same bytes again", () => {
    const text = fc.oneof(
      fc.string({ unit: "grapheme" }),
      fc.string({
        unit: fc.constantFrom(
          " ",
          "\n",
          "\t",
          "a",
          "#",
          ":",
          "-",
          "'",
          '"',
          "\u0085",
          "\u2028",
          "\ufeff",
          "\u0000",
          "\r",
        ),
      }),
      fc.constantFrom("null", "~", "yes", "1e3", "0x1f", "---", "...", "<<", "&a", "*a", "!x", "%", ""),
    );
    const key = fc.string({ unit: "grapheme-ascii" }).filter((name) => name !== "__proto__");
    const data = fc.dictionary(
      key,
      fc.letrec((tie) => ({
        node: fc.oneof(
          { maxDepth: 4 },
          text,
          fc.integer(),
          fc.double({ noNaN: true, noDefaultInfinity: true }),
          fc.boolean(),
          fc.constant(null),
          fc.array(tie("node"), { maxLength: 4 }),
          fc.dictionary(key, tie("node"), { maxKeys: 4 }),
        ),
      })).node,
    );
    fc.assert(
      fc.property(data, (value) => {
        const once = canonicalYaml(value);
        const again = parseYamlText(Buffer.from(once), { path }).value;
        expect(again).toEqual(JSON.parse(JSON.stringify(value)));
        expect(canonicalYaml(again)).toBe(once);
      }),
      { numRuns: 300 },
    );
  });

  it("keeps a prompt readable in the canonical form", () => {
    const prompt = "You triage.\n\n- one: é\n  - two\n";
    expect(canonicalYaml({ b: prompt, a: [] })).toBe("a: []\nb: |\n  You triage.\n\n  - one: é\n    - two\n");
  });

  it("reads a list where one is asked for", () => {
    expect(parseYamlText("- 1", { path, root: "list" }).value).toEqual([1]);
    expect(errorOf(() => parseYamlText("a: 1", { path, root: "list" })).message).toBe(
      "c.yaml:1:1: the file must hold a list",
    );
  });
});

describe("readYaml", () => {
  it("says which file is missing, is a folder or is too big", () => {
    const { dir, remove } = folderOf({ "big.yaml": `a: ${"x".repeat(300_000)}` });
    expect(errorOf(() => readYaml(`${dir}/none.yaml`))).toMatchObject({ code: "missing", exitCode: 2 });
    expect(errorOf(() => readYaml(dir)).message).toContain("not a plain file");
    expect(errorOf(() => readYaml(`${dir}/big.yaml`)).message).toContain("above the 262144 allowed");
    remove();
  });
});

describe("validateYaml", () => {
  const validate = <T>(schema: z.ZodType<T>, text: string) =>
    validateYaml(schema, parseYamlText(text, { path }));
  const problems = (schema: z.ZodType, text: string) =>
    errorOf(() => validate(schema, text)).message.split("\n");

  it("C05: refuses an unknown key with its line and the nearest known one", () => {
    expect(problems(harnessConfigSchema, "prompt: x\nlimits:\n  max_stpes: 5\n")).toEqual([
      expect.stringMatching(/^c\.yaml:3:3: at limits\.max_stpes: unknown key, did you mean `max_steps`\?/),
    ]);
    expect(problems(harnessConfigSchema, "promt: x\n").join()).toContain(
      "c.yaml:1:1: at promt: unknown key, did you mean `prompt`?",
    );
  });

  it("C05: finds keys behind lists, records, unions and defaults", () => {
    const recipe = (extra: string) =>
      problems(
        recipeSchema,
        `name: a\ntasks: {file: t}\nsplits: {evolve: 1, gate: 1}\nevaluator: {kind: exact}\nmodels: {agent: {kind: sim}}\n${extra}`,
      );
    expect(recipe("budgets: {rouns: 3}")[0]).toContain(
      "at budgets.rouns: unknown key, did you mean `rounds`?",
    );
    expect(recipe("sandbox: ful")[0]).toBe(
      "c.yaml:6:1: at sandbox: `ful` is none of `full`, `partial`, `weak`, did you mean `full`?",
    );
    expect(recipe("proposers: [mechanik]")[0]).toContain(
      "c.yaml:6:13: at proposers[0]: `mechanik` is none of `mechanic`",
    );
    expect(
      problems(
        candidateSchema,
        "parent: gen/0000\nlever: tool\nhypothesis: h\nevidence: [{rollout: r, step: 0, qoute: q}]\npredicts: {}\nsignature: {}",
      ),
    ).toEqual([
      "c.yaml:4:12: at evidence[0].quote: is missing: expected text",
      expect.stringContaining("c.yaml:4:34: at evidence[0].qoute: unknown key, did you mean `quote`?"),
    ]);
  });

  it("says what a union wanted", () => {
    const tasks = z.object({ tasks: recipeSchema.shape.tasks, evaluator: recipeSchema.shape.evaluator });
    expect(problems(tasks, "tasks: t.jsonl\nevaluator: exact")).toEqual([
      "c.yaml:1:1: at tasks: expected a map, found text",
      "c.yaml:2:1: at evaluator: expected a map, found text",
    ]);
    expect(problems(tasks, "tasks: {flie: t}\nevaluator: {kind: exakt}")).toEqual([
      "c.yaml:1:1: at tasks.file: is missing: expected text",
      expect.stringContaining("c.yaml:1:9: at tasks.flie: unknown key, did you mean `file`?"),
      expect.stringContaining("c.yaml:2:13: at evaluator.kind: `exakt` is none of `exact`"),
    ]);
    expect(problems(tasks, "tasks: {file: t}\nevaluator: {}")[0]).toContain(
      "at evaluator.kind: is missing: one of `exact`",
    );
  });

  it("lists the first five problems and counts the rest", () => {
    const lines = problems(harnessConfigSchema, "prompt: 5\na: 1\nb: 1\nc: 1\nd: 1\ne: 1\nf: 1\n");
    expect(lines).toHaveLength(6);
    expect(lines[0]).toBe("c.yaml:1:1: at prompt: expected text, found a number (put it in quotes)");
    expect(lines[5]).toBe("… and 2 more");
  });

  it("C09: null is the same as an absent key, an empty list is an empty list", () => {
    const absent = validate(harnessConfigSchema, "prompt: x");
    expect(
      validate(harnessConfigSchema, "prompt: x\ntools:\nskills: ~\nlimits:\n  max_steps:\nprocessors: null"),
    ).toEqual(absent);
    expect(validate(harnessConfigSchema, "prompt: x\ntools: {builtin: , custom: [], allowlist: }")).toEqual(
      absent,
    );
    expect(validate(harnessConfigSchema, "prompt: x\ntools: {allowlist: []}").tools.allowlist).toEqual([]);
    expect(problems(harnessConfigSchema, "skills: []\nprompt:\n")).toEqual([
      "c.yaml:2:1: at prompt: is missing: expected text",
    ]);
    expect(problems(harnessConfigSchema, "prompt: x\nskills: [~]")).toEqual([
      "c.yaml:2:10: at skills[0]: expected text, found nothing",
    ]);
  });
});
