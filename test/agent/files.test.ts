import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { builtinTools } from "../../src/agent/tools/files.ts";

const base = mkdtempSync(join(tmpdir(), "lorimer-files-"));
const roots = { resources: join(base, "resources"), workspace: join(base, "workspace") };
const tools = new Map(builtinTools(["Read", "Glob", "Grep"], roots).map((tool) => [tool.schema.name, tool]));
const run = async (name: string, input: Record<string, unknown>) => await tools.get(name)?.run(input);
const resultOf = async (name: string, input: Record<string, unknown>) => (await run(name, input))?.result;

const lines = (count: number, width = 10) =>
  Array.from({ length: count }, (_, index) => `${index + 1}`.padEnd(width, ".")).join("\n");

beforeAll(() => {
  mkdirSync(join(roots.resources, "deep/er"), { recursive: true });
  mkdirSync(roots.workspace);
  writeFileSync(join(base, "secret.txt"), "the secret");
  writeFileSync(join(roots.resources, "notes.md"), "One apple\ntwo pears\nthree APPLES");
  writeFileSync(join(roots.resources, "deep/er/more.md"), "an apple");
  writeFileSync(join(roots.resources, "a+b(c).txt"), "odd name");
  writeFileSync(join(roots.resources, "empty.txt"), "");
  writeFileSync(join(roots.resources, "gap.txt"), "one\n\nthree");
  writeFileSync(join(roots.resources, "long.txt"), lines(500));
  writeFileSync(join(roots.resources, "wide.txt"), lines(50, 3000));
  writeFileSync(join(roots.resources, "one-line.txt"), "x".repeat(30_000));
  writeFileSync(join(roots.workspace, "draft.txt"), "a draft");
  symlinkSync(join(base, "secret.txt"), join(roots.workspace, "link.txt"));
  symlinkSync(base, join(roots.workspace, "linked"));
  symlinkSync(join(roots.workspace, "draft.txt"), join(roots.workspace, "inner.txt"));
});
afterAll(() => rmSync(base, { recursive: true, force: true }));

describe("Read", () => {
  test.each([
    ["resources/notes.md", "One apple\ntwo pears\nthree APPLES"],
    ["./resources/notes.md", "One apple\ntwo pears\nthree APPLES"],
    ["resources/deep/../notes.md", "One apple\ntwo pears\nthree APPLES"],
    ["workspace/draft.txt", "a draft"],
    ["workspace/inner.txt", "a draft"],
    ["resources/empty.txt", "[the file is empty]"],
  ])("gives %s", async (path, text) => {
    expect(await run("Read", { path })).toEqual({ result: text, isError: false });
  });

  test.each([
    ["resources/../secret.txt", "leaves its folder"],
    ["resources/../../../../../../../../etc/passwd", "leaves its folder"],
    ["resources/deep/../../secret.txt", "leaves its folder"],
    ["workspace/link.txt", "leaves its folder"],
    ["workspace/linked/secret.txt", "leaves its folder"],
    ["workspace/linked/resources/notes.md", "leaves its folder"],
    ["/etc/passwd", "is neither in resources/ nor in workspace/"],
    ["secret.txt", "is neither in resources/ nor in workspace/"],
    ["../secret.txt", "is neither in resources/ nor in workspace/"],
    ["", "is neither in resources/ nor in workspace/"],
    ["resources", "is not a file"],
    ["resources/deep", "is not a file"],
    ["resources/nope.md", "there is no file"],
    ["resources/a\0b", "there is no file"],
  ])("refuses %j: %s", async (path, reason) => {
    const outcome = await run("Read", { path });
    expect(outcome).toMatchObject({ isError: true, result: expect.stringContaining(reason) });
    expect(outcome?.result).not.toContain(base);
  });

  test("does not tell whether a file outside is there", async () => {
    const told = (name: string) => resultOf("Read", { path: `resources/../${name}` });
    expect((await told("nope.txt"))?.replace("nope", "secret")).toBe(await told("secret.txt"));
  });

  test("gives long files in parts that can all be had", async () => {
    const first = await resultOf("Read", { path: "resources/long.txt" });
    expect(first).toBe(
      `${lines(500).split("\n").slice(0, 200).join("\n")}\n[300 more lines; read on from start_line 201]`,
    );
    const last = await resultOf("Read", { path: "resources/long.txt", start_line: 401 });
    expect(last).toBe(lines(500).split("\n").slice(400).join("\n"));
  });

  test.each(["wide.txt", "long.txt"])(
    "can be walked through %s by what it says, nothing left out",
    async (name) => {
      const found: string[] = [];
      for (let start: number | undefined = 1; start !== undefined; ) {
        const text: string = (await resultOf("Read", { path: `resources/${name}`, start_line: start })) ?? "";
        expect(text.length).toBeLessThan(20_200);
        const [, body = text, next] =
          /^([\s\S]*)\n\[\d+ more lines; read on from start_line (\d+)\]$/.exec(text) ?? [];
        found.push(body);
        start = next === undefined ? undefined : Number(next);
      }
      expect(found.join("\n")).toBe(name === "wide.txt" ? lines(50, 3000) : lines(500));
    },
  );

  test("cuts one line that is too long, and says so", async () => {
    const text = await resultOf("Read", { path: "resources/one-line.txt" });
    expect(text).toBe(`${"x".repeat(20_000)}\n[cut: 10000 more characters]`);
  });

  test("is never silent", async () => {
    expect(await resultOf("Read", { path: "resources/notes.md", start_line: 9 })).toBe(
      "[the file ends at line 3]",
    );
    expect(await resultOf("Read", { path: "resources/gap.txt", start_line: 2, lines: 1 })).toBe(
      "\n[1 more lines; read on from start_line 3]",
    );
  });

  test.each([
    [{}, "path"],
    [{ path: 3 }, "path"],
    [{ path: "resources/notes.md", start_line: 0 }, "start_line"],
    [{ path: "resources/notes.md", lines: 1e9 }, "lines"],
  ])("refuses the input %j by naming %s", async (input, field) => {
    expect(await run("Read", input)).toMatchObject({
      isError: true,
      result: expect.stringMatching(new RegExp(`^\\[Read failed: ${field}: .*\\]$`)),
    });
  });
});

describe("Glob", () => {
  test.each([
    ["resources/*.md", ["resources/notes.md"]],
    ["**/*.md", ["resources/deep/er/more.md", "resources/notes.md"]],
    ["resources/**/more.md", ["resources/deep/er/more.md"]],
    ["resources/**", expect.arrayContaining(["resources/deep/er/more.md", "resources/long.txt"])],
    ["**/ore.md", []],
    ["resources/deep/*.md", []],
    ["resources/note?.md", ["resources/notes.md"]],
    ["resources/a+b(c).txt", ["resources/a+b(c).txt"]],
    ["resources/[n]otes.md", []],
    ["*", []],
    ["workspace/**", ["workspace/draft.txt"]],
    ["../**", []],
  ])("%s finds %j", async (pattern, paths) => {
    const result = await resultOf("Glob", { pattern });
    const found = result?.startsWith("[no file matches") ? [] : result?.split("\n");
    expect(found).toEqual(paths);
  });

  test("takes any pattern in no time", async () => {
    const hostile = `${"**/".repeat(100)}${"*a".repeat(50)}x`;
    expect(await run("Glob", { pattern: hostile })).toMatchObject({ isError: false });
    expect(await run("Glob", { pattern: "*".repeat(501) })).toMatchObject({ isError: true });
  });

  test("says how many it leaves out", async () => {
    const dir = mkdtempSync(join(base, "many-"));
    for (let index = 0; index < 203; index++) writeFileSync(join(dir, `${index}.txt`), "");
    const [tool] = builtinTools(["Glob"], { resources: dir, workspace: undefined });
    const found = (await tool?.run({ pattern: "**" }))?.result.split("\n");
    expect(found).toHaveLength(201);
    expect(found?.at(-1)).toBe("[3 more files]");
  });
});

describe("Grep", () => {
  test("finds lines, without regard to case, with file and line number", async () => {
    expect(await resultOf("Grep", { text: "apple" })).toBe(
      [
        "resources/deep/er/more.md:1: an apple",
        "resources/notes.md:1: One apple",
        "resources/notes.md:3: three APPLES",
      ].join("\n"),
    );
    expect(await resultOf("Grep", { text: "apple", pattern: "resources/*" })).not.toContain("deep");
  });

  test("takes its text as it stands, and never follows a link out", async () => {
    expect(await resultOf("Grep", { text: ".*" })).toBe('[no line holds ".*"]');
    expect(await resultOf("Grep", { text: "the secret" })).toBe('[no line holds "the secret"]');
  });

  test("is bounded, and says so", async () => {
    const text = await resultOf("Grep", { text: ".", pattern: "resources/long.txt" });
    expect(text?.split("\n")).toHaveLength(201);
    expect(text).toMatch(/\n\[there are more\]$/);
  });
});

test("without folders there is nothing, and no failure", async () => {
  const bare = builtinTools(["Read", "Glob", "Grep"], { resources: undefined, workspace: undefined });
  const results = await Promise.all([
    bare[0]?.run({ path: "resources/x" }),
    bare[1]?.run({ pattern: "**" }),
    bare[2]?.run({ text: "x" }),
  ]);
  expect(results.map((outcome) => outcome?.isError)).toEqual([true, false, false]);
  expect(() => builtinTools(["Nope"], roots)).toThrow("there is no built-in tool Nope");
});
