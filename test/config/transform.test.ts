import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { transformPart } from "../../src/config/transform.ts";
import { LorimerError } from "../../src/lib/errors.ts";

const source = `import { tool } from "lorimer/tools";
import { z } from "zod";

export const add_two = tool({
  description: "adds",
  input: z.object({ left: z.number(), right: z.number() }),
  async run(input: { left: number; right: number }) {
    return String(input.left + input.right);
  },
});
`;

function failure(text: string): LorimerError {
  try {
    transformPart(text, { file: "tools/x.ts" });
  } catch (error) {
    if (error instanceof LorimerError) return error;
  }
  throw new Error("no LorimerError was thrown");
}

describe("transformPart", () => {
  it("gives strict CommonJS with the export's name kept", () => {
    const code = transformPart(source, { file: "tools/add.ts" });
    expect(code).toMatch(/^"use strict";/);
    expect(code.match(/"use strict"/g)).toHaveLength(1);
    expect(code).toContain("add_two");
    expect(code).toContain('require("lorimer/tools")');
    expect(code).not.toContain("number;");
  });

  it("says 'use strict' once when the author says it too", () => {
    const code = transformPart(`"use strict";\n${source}`, { file: "a.ts" });
    expect(code).toBe(transformPart(source, { file: "b.ts" }));
  });

  it("ignores comments, white space, line ends and the file's name", () => {
    const plain = transformPart(source, { file: "tools/one.ts" });
    const lines = source.split("\n");
    const noise = fc.array(
      fc.constantFrom("", "  ", "// note", "/* block */", "/*! legal */", "//# sourceMappingURL=x.js.map"),
      { minLength: lines.length, maxLength: lines.length },
    );
    fc.assert(
      fc.property(
        noise,
        fc.constantFrom("\n", "\r\n", "\r"),
        fc.constantFrom("a.ts", "z-z.ts"),
        (extra, eol, file) => {
          const noisy = lines.flatMap((line, index) => [extra[index] ?? "", line]).join(eol);
          expect(transformPart(noisy, { file })).toBe(plain);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("changes with the behaviour, also inside a template literal", () => {
    const before = transformPart("export const x = `a  b`;", { file: "x.ts" });
    expect(transformPart("export const x = `a b`;", { file: "x.ts" })).not.toBe(before);
    expect(transformPart('export const x = "a  b";', { file: "x.ts" })).toBe(
      transformPart("export const x = 'a  b'", { file: "x.ts" }),
    );
  });

  it("never inlines what the source imports", () => {
    const code = transformPart('import secret from "/etc/hostname";\nexport const x = secret;', {
      file: "x.ts",
    });
    expect(code).toContain('require("/etc/hostname")');
  });

  it("names file, line and column of a syntax error", () => {
    const error = failure("export const x = 1;\nexport const y = ;\n");
    expect(error.code).toBe("config");
    expect(error.message).toMatch(/^tools\/x\.ts:2:18: /);
    expect(error.hint).toBeDefined();
  });

  it("names the right file when the same bad text stands in two", () => {
    expect(() => transformPart("let = ;", { file: "one.ts" })).toThrow(/^one\.ts:/);
    expect(() => transformPart("let = ;", { file: "two.ts" })).toThrow(/^two\.ts:/);
  });

  it("refuses top-level await and import.meta in plain words", () => {
    expect(failure("export const x = await 1;").message).toMatch(/^tools\/x\.ts:1:\d+: top-level await/);
    expect(failure("export const a = 1;\nexport const x = import.meta.url;").message).toMatch(
      /^tools\/x\.ts:2:18: import\.meta/,
    );
  });
});
