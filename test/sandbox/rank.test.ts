import fc from "fast-check";
import { expect, test } from "vitest";
import { createRanker } from "../../src/sandbox/worker/rank.ts";

const records = [
  { label: "bill", text: "Your invoice for June is due: please pay 120 euros by Friday" },
  { label: "trip", text: "The train to Vienna leaves at nine from platform 4", note: "bring the tickets" },
  { label: "bill", text: "Second reminder: the invoice of 80 euros is still not paid" },
  { label: "food", text: "<p>Soup of the day is <b>pumpkin</b>&nbsp;with bread</p>", count: 3 },
];

test("the likest records come first, with scores in [0, 1]", () => {
  const found = createRanker(records)("please pay this invoice of 300 euros", 3);
  expect(found.slice(0, 2).map(({ record }) => record.label)).toEqual(["bill", "bill"]);
  expect(found[0]?.score).toBeGreaterThan(found[1]?.score ?? 1);
});

test("all text fields count, markup does not hide words, numbers and case make no difference", () => {
  const rank = createRanker(records);
  expect(rank("who has the TICKETS", 1)[0]?.record.label).toBe("trip");
  expect(rank("=3Dpumpkin bread<br", 1)[0]?.record.label).toBe("food");
  expect(rank("Platform 9", 1)[0]?.record.label).toBe("trip");
});

test("nothing in common, no records, no text and k = 0 give nothing", () => {
  expect(createRanker(records)("zzz qqq", 5)).toEqual([]);
  expect(createRanker(records)("", 5)).toEqual([]);
  expect(createRanker([])("invoice", 5)).toEqual([]);
  expect(createRanker([{ n: 1 }])("invoice", 5)).toEqual([]);
  expect(createRanker(records)("invoice", 0)).toEqual([]);
});

test("equal records keep their order", () => {
  const twins = [1, 2, 3].map((number) => ({ number, text: "the same words" }));
  expect(createRanker(twins)("same words", 3).map(({ record }) => record.number)).toEqual([1, 2, 3]);
});

test("words such as constructor are words", () => {
  const rank = createRanker([{ text: "constructor __proto__ toString" }, { text: "other" }]);
  expect(rank("constructor", 2)).toHaveLength(1);
});

test("any texts: sorted scores in [0, 1], at most k, the same every time", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 60 })),
      fc.string({ maxLength: 60 }),
      fc.nat(8),
      (texts, query, k) => {
        const list = texts.map((text) => ({ text }));
        const found = createRanker(list)(query, k);
        expect(found.length).toBeLessThanOrEqual(k);
        for (const [index, { score }] of found.entries()) {
          expect(score).toBeGreaterThan(0);
          expect(score).toBeLessThanOrEqual(found[index - 1]?.score ?? 1);
        }
        expect(createRanker(list)(query, k)).toEqual(found);
      },
    ),
  );
});
