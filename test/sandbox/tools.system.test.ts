import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { PartError } from "../../src/agent/parts.ts";
import { authored, toolOf, toolOfCases } from "../support/parts.ts";
import { fenceOn, levelsHere, runOnce, toolIn } from "./fences.ts";

const resources = mkdtempSync(join(tmpdir(), "lorimer-resources-"));
mkdirSync(join(resources, "sub"));
writeFileSync(join(resources, "notes.txt"), "a resource");
writeFileSync(join(resources, "sub/deep.txt"), "deep");
writeFileSync(
  join(resources, "history.jsonl"),
  ['{"text":"cheap pills now","label":"junk"}', '{"text":"the meeting at noon","label":"inbox"}'].join("\n"),
);
symlinkSync("/etc/passwd", join(resources, "link.txt"));
afterAll(() => rmSync(resources, { recursive: true, force: true }));

const outcomes: readonly (readonly [string, string, boolean])[] = [
  ["return 'fine'", "fine", false],
  ["return { a: 1 }", '{"a":1}', false],
  ["return", "[probe failed: returned nothing]", true],
  ["return null", "[probe failed: returned nothing]", true],
  ["return ''", "[probe failed: returned nothing]", true],
  ["return () => 1", "[probe failed: returned nothing]", true],
  ["throw new TypeError('no such queue')", "[probe failed: no such queue]", true],
  ["return Promise.reject(undefined)", "[probe failed: undefined]", true],
  [
    "throw { get message() { throw 1 }, toString() { throw 2 } }",
    "[probe failed: something that cannot be shown]",
    true,
  ],
  ["return '[probe failed: declared]'", "[probe failed: declared]", true],
  ["return 12n", "[probe failed: Do not know how to serialize a BigInt]", true],
];

describe.each(await levelsHere())("tools on the %s fence", async (level) => {
  const fence = await fenceOn(level, { resources });

  it("describes a tool from its export and its zod input", async () => {
    const part = toolOf("return input.text", {
      name: "echo",
      input: '{ text: z.string().describe("What to say"), times: z.number().int().default(1) }',
    });
    const parts = await fence.loader.open([part]);
    const { schema } = toolIn(parts);
    expect(schema.name).toBe("echo");
    expect(schema.inputSchema).toMatchObject({
      type: "object",
      properties: { text: { type: "string", description: "What to say" }, times: { default: 1 } },
      required: ["text"],
    });
    expect(await parts.close()).toEqual([]);
  });

  it("names the field of a wrong input and does not run", async () => {
    const part = toolOf("return input.text", { input: "{ text: z.string() }" });
    const { result, isError } = await runOnce(fence, part, { text: 7 });
    expect(isError).toBe(true);
    expect(result).toMatch(/^\[probe failed: input\.text: .*string.*\]$/);
  });

  const returning = toolOfCases(outcomes.map(([body]) => body));
  it.each(outcomes.map((outcome, index) => [...outcome, index] as const))(
    "%s → %s",
    async (_body, result, isError, index) => {
      expect(await runOnce(fence, returning, { index })).toEqual({ result, isError, faults: [] });
    },
  );

  it("refuses a result that is too large, and its worker lives", async () => {
    const parts = await fence.loader.open([
      toolOf("return 'x'.repeat(input.n)", { input: "{ n: z.number() }" }),
    ]);
    expect((await toolIn(parts).run({ n: 3_000_000 })).result).toMatch(/returned more than \d+ bytes/);
    expect((await toolIn(parts).run({ n: 3 })).result).toBe("xxx");
    expect(await parts.close()).toEqual([]);
  });

  it("reads resources, by listed name only", async () => {
    const names = ["sub/deep.txt", "../notes.txt", "/etc/passwd", "link.txt", "sub/../notes.txt"];
    const part = toolOfCases([
      "return context.resources",
      ...names.map((name) => `return context.resource("${name}")`),
    ]);
    const run = async (index: number) => (await runOnce(fence, part, { index })).result;
    expect(await run(0)).toBe('["history.jsonl","notes.txt","sub/deep.txt"]');
    expect(await run(1)).toBe("deep");
    for (const index of [2, 3, 4, 5]) expect(await run(index)).toMatch(/^\[probe failed: no resource/);
  });

  it("ranks records, and a changed record is whole again at the next call", async () => {
    const body = `
      const [first] = await context.rank("history.jsonl", "pills, cheap", 1);
      const label = first.record.label;
      first.record.label = "changed";
      const [again] = await context.rank("history.jsonl", "pills, cheap", 1);
      return label + " " + again.record.label;`;
    expect((await runOnce(fence, toolOf(body))).result).toBe("junk junk");
  });

  it("has a workspace of its own, empty at the start, and nothing outside it", async () => {
    const write = toolOf(`
      const before = await context.workspace.list();
      await context.workspace.write("notes/a.txt", "hello");
      return [before, await context.workspace.list(), await context.workspace.read("notes/a.txt")];`);
    for (let rollout = 0; rollout < 2; rollout++) {
      expect((await runOnce(fence, write)).result).toBe('[[],["notes/a.txt"],"hello"]');
    }
    const paths = ["../a", "/etc/passwd", "a/../../b", "", "./a", "a//b", "a\0b"];
    const outside = toolOfCases(
      paths.map((path) => `await context.workspace.write(${JSON.stringify(path)}, "x"); return "written"`),
    );
    for (const index of paths.keys()) {
      expect((await runOnce(fence, outside, { index })).result).toMatch(/^\[probe failed: /);
    }
  });

  it("does not follow a link in the workspace", async () => {
    const parts = await fence.loader.open([toolOf("return context.workspace.read('link/passwd')")]);
    symlinkSync("/etc", join(parts.workspace ?? "", "link"));
    expect((await toolIn(parts).run({})).result).toMatch(/leads over a link/);
    await parts.close();
  });

  it("limits the workspace's files and their size", async () => {
    const many = toolOf(
      "for (let i = 0; i < 200; i++) await context.workspace.write('f' + i, ''); return 'ok'",
    );
    expect((await runOnce(fence, many)).result).toBe("[probe failed: the workspace holds 100 files already]");
    const large = toolOf("await context.workspace.write('f', 'x'.repeat(2 ** 20 + 1)); return 'ok'");
    expect((await runOnce(fence, large)).result).toMatch(/would be larger than/);
  });

  it.each([
    ["", "exports no tool"],
    [
      "export const other = tool({ description: 'd', input: z.object({}), run: () => 'x' })",
      "exports the tool other",
    ],
    ["export const probe = { description: 'd' }", "exports no tool"],
    [
      "export const probe = tool({ description: ' ', input: z.object({}), run: () => 'x' })",
      "description is empty",
    ],
    [
      "export const probe = tool({ description: 'd', input: z.string(), run: () => 'x' })",
      "must be a z.object",
    ],
    [
      "export const probe = tool({ description: 'd', input: z.object({ a: z.bigint() }), run: () => 'x' })",
      "BigInt",
    ],
    ["export const probe = tool({ description: 'd', input: z.object({}) })", "run is no function"],
    ["throw new Error('at import')", "at import"],
    ["import 'node:fs'; export const probe = 1", 'cannot import "node:fs"'],
  ])("refuses to load %j: %s", async (text, message) => {
    const source = `import { tool } from "lorimer/tools"; import { z } from "zod"; ${text}`;
    const error = await fence.loader
      .open([authored("tool", source, "probe")])
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PartError);
    expect(error).toMatchObject({ file: "tools/part.ts", message: expect.stringContaining(message) });
  });

  it("refuses two tools in one file", async () => {
    const one = "tool({ description: 'd', input: z.object({}), run: () => 'x' })";
    const source = `import { tool } from "lorimer/tools"; import { z } from "zod";
      export const probe = ${one}; export const second = ${one};`;
    await expect(fence.loader.open([authored("tool", source, "probe")])).rejects.toThrow(/exports 2 tools/);
  });

  it("offers zod whole, with every kind of schema, and the pure modules", async () => {
    const body = `
      const kinds = [z.email(), z.url(), z.uuid(), z.iso.date(), z.enum(["a"]), z.literal(1), z.array(z.string()).min(1),
        z.tuple([z.string()]), z.record(z.string(), z.number()), z.union([z.string(), z.number()]), z.coerce.number(),
        z.string().transform((text) => text.length), z.preprocess((text) => text, z.string()), z.lazy(() => z.string()),
        z.discriminatedUnion("t", [z.object({ t: z.literal("a") })]), z.string().refine((text) => text !== "x"),
        z.object({ a: z.string() }).partial().extend({ b: z.number() }).strict().meta({ id: "kind" }), z.stringbool(),
        z.templateLiteral(["a", z.number()]), z.base64(), z.jwt(), z.ulid(), z.date().min(new Date(0)), z.set(z.any()),
        z.codec(z.string(), z.number(), { decode: Number, encode: String }), z.custom(() => true), z.nan(), z.json(),
        z.string().min(1).max(9).trim().toLowerCase().regex(/a/).optional().nullable().default("a").readonly()];
      for (const kind of kinds) kind.safeParse({});
      const { basename } = await Promise.resolve(path);
      return [kinds.length, basename("a/b.txt"), parse("a=1").a, types.isDate(new Date()), domainToASCII("x.org")];`;
    const top = `import path from "node:path"; import { parse } from "node:querystring";
      import { types } from "node:util"; import { domainToASCII } from "node:url";`;
    expect((await runOnce(fence, toolOf(body, { top }))).result).toBe('[29,"b.txt","1",true,"x.org"]');
  });
});
