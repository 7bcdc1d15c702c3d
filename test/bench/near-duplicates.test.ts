import fc from "fast-check";
import { expect, test } from "vitest";
import { nearDuplicateGroups } from "../../src/bench/near-duplicates.ts";

const letter = "the quick brown fox jumps over the lazy dog and runs far away from here";

test("case, white space, punctuation and digits make no difference", () => {
  const groups = nearDuplicateGroups([
    letter,
    "something else entirely, with no words in common at all",
    `  ${letter.toUpperCase().replaceAll(" ", " \n ")}!!`,
    "You won 100 dollars",
    "you won 2 dollars.",
  ]);
  expect(groups).toEqual([0, 1, 0, 3, 3]);
});

test("links are transitive, and a group is named by its first text", () => {
  const words = letter.split(" ");
  const shifted = (by: number) => [...words.slice(by), ..."a b c d e f".split(" ").slice(0, by)].join(" ");
  expect(nearDuplicateGroups([shifted(6), shifted(3), shifted(0)])).toEqual([0, 0, 0]);
  expect(nearDuplicateGroups([shifted(6), shifted(0)])).toEqual([0, 1]);
});

test("texts of fewer than three words are compared whole", () => {
  expect(nearDuplicateGroups(["hello", "Hello!", "hello you", "", "...", "you hello"])).toEqual([
    0, 0, 2, 3, 3, 5,
  ]);
});

test("no pair is missed: comparing all pairs gives the same groups", () => {
  const text = fc
    .array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 14 })
    .map((words) => words.join(" "));
  fc.assert(
    fc.property(fc.array(text, { maxLength: 14 }), (texts) => {
      expect(nearDuplicateGroups(texts)).toEqual(byAllPairs(texts));
    }),
    { numRuns: 400 },
  );
});

function byAllPairs(texts: readonly string[]): number[] {
  const sets = texts.map((text) => {
    const words = text === "" ? [] : text.split(" ");
    if (words.length < 3) return new Set([words.join(" ")]);
    return new Set(words.slice(2).map((_, index) => words.slice(index, index + 3).join(" ")));
  });
  const groups = texts.map((_, index) => index);
  const relabel = (from: number, to: number) => {
    for (const [at, group] of groups.entries()) if (group === from) groups[at] = to;
  };
  for (const [a, left] of sets.entries()) {
    for (const [b, right] of sets.entries()) {
      const shared = [...left].filter((shingle) => right.has(shingle)).length;
      const [x, y] = [groups[a] ?? a, groups[b] ?? b];
      if (shared / (left.size + right.size - shared) >= 0.5 && x !== y)
        relabel(Math.max(x, y), Math.min(x, y));
    }
  }
  return groups;
}
