import { expect, test } from "vitest";
import { checkCodeRules } from "../../src/checks/code-rules.ts";
import { checkLiterals } from "../../src/checks/literals/check-literals.ts";
import { invoiceCorpus, toolFile } from "./invoices.ts";

const depth = 20_000;

test.each([
  ["brackets", `export const x = ${"[".repeat(depth)}${"]".repeat(depth)};`],
  ["templates", `export const x = ${"`${".repeat(depth)}1${"}`".repeat(depth)};`],
  ["choices without an end", `${"if (a)\n/*;*/".repeat(depth)};`],
  ["a sum", `export const x = ${Array.from({ length: 10 * depth }, () => '"a"').join("+")};`],
])("%s that would overflow the native parser are refused and kill nothing", (_name, source) => {
  const files = new Map([["tools/deep.ts", source]]);
  const kinds = [checkCodeRules(files), checkLiterals({ files, corpus: invoiceCorpus })].map(
    ([first]) => first?.kind,
  );
  for (const kind of kinds) expect(["syntax", "too-complex"]).toContain(kind);
});

test("a long ordinary file passes", () => {
  const table = Array.from({ length: 3000 }, (_, index) => `  "entry ${index}",`).join("\n");
  const files = new Map([["tools/total.ts", toolFile("", `const table = [\n${table}\n];`)]]);
  expect(checkCodeRules(files)).toEqual([]);
  expect(checkLiterals({ files, corpus: invoiceCorpus })).toEqual([]);
});
