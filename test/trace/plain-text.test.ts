import fc from "fast-check";
import { expect, test } from "vitest";
import { oneLine, plainText } from "../../src/trace/plain-text.ts";

test.each([
  ["terminal codes", "a\u001b[31mb\u0007", "a[31mb"],
  ["line ends of other systems", "a\r\nb\rc", "a\nb\nc"],
  ["tabs", "a\tb", "a b"],
  ["direction marks", "a\u202eb\u2066c\u200fd\u061ce", "abcde"],
  ["invisible characters", "a\u200bb\u2060c\ufeffd\u00ade\u{e0041}f", "abcdef"],
  ["other line ends", "a\u2028b\u2029c\u0085d", "abcd"],
  ["halves of pairs", "a\ud800b\udc00c", "abc"],
  ["white space around", "\n  a  \n", "a"],
])("plain text has no %s", (_what, text, plain) => {
  expect(plainText(text)).toBe(plain);
});

test("words of every script stay whole", () => {
  for (const text of ["größe 日本", "👩‍🚀 👍🏽", "می‌خواهم", "क्‍ष"]) expect(plainText(text)).toBe(text);
});

test("one line is one line, of at most that many characters, with no half pair", () => {
  expect(oneLine("a\n\n  b\u2028c\td")).toBe("a b c d");
  expect(oneLine("abcdef", 4)).toBe("abc…");
  expect(oneLine("ab👍cd", 4)).toBe("ab…");
  expect(plainText("abc\ndef", 5)).toBe("abc…");
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.integer({ min: 1, max: 30 }), (text, limit) => {
      const line = oneLine(text, limit);
      expect(line.length).toBeLessThanOrEqual(limit);
      expect(line).not.toMatch(/[\p{Cc}\p{Cs}\u2028\u2029]/u);
    }),
  );
});
