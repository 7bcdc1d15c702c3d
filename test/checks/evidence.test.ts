import { describe, expect, test } from "vitest";
import { checkEvidence } from "../../src/checks/evidence.ts";
import { contextOf, proposalOf, recordOf, subjectOf } from "./papers.ts";

const records = [
  recordOf("0123456789abcdef", {
    input: "Where is\nthe book?",
    steps: [
      {
        said: "Let me look.",
        call: { name: "find", input: { text: 'a "book"\non bees' } },
        result: "shelf 9",
      },
      { said: "It is on shelf 9." },
    ],
  }),
];

const findings = (step: number, quote: string, rollout = "0123456789abcdef") =>
  checkEvidence(
    subjectOf({ proposal: proposalOf({ evidence: [{ rollout, step, quote }] }) }),
    contextOf({ records }),
  ).map(({ message }) => message);

describe("evidence holds where a step says what is quoted:", () => {
  test.each([
    ["the task, in its first step", 0, "Where is the book?"],
    ["the system prompt, in the first step", 0, "Be good."],
    ["what the model said", 0, "me look"],
    ["white space aside", 1, "It  is on\nshelf 9."],
    ["the name of a call", 0, "find"],
    ["a text that a call was given, as it reads", 0, 'a "book"\non bees'],
    ["a call's input as JSON", 0, '{"text":"a \\"book\\"\\non bees"}'],
    ["a tool's result", 0, "shelf 9"],
  ])("%s", (_name, step, quote) => {
    expect(findings(step, quote)).toEqual([]);
  });
});

describe("evidence is refused that", () => {
  test("cites a rollout which the champion has not", () => {
    expect(findings(0, "find", "feedfeedfeedfeed")).toEqual([
      "cites rollout feedfeedfeed, which the champion has not on the evolve split",
    ]);
    expect(findings(0, "find", "0123456789ab")).toHaveLength(1);
  });

  test("cites a step past the end", () => {
    expect(findings(2, "It is")).toEqual(["cites step 2 of rollout 0123456789ab, which has 2"]);
  });

  test.each([
    ["says what nobody said", 0, "It was lost"],
    ["says it of another step", 1, "Let me look."],
    ["says it of another step: the task", 1, "Where is"],
    ["is blank", 0, " \n "],
  ])("%s", (_name, step, quote) => {
    expect(findings(step, quote)).toEqual([
      `step ${step} of rollout 0123456789ab does not say what is quoted`,
    ]);
  });

  test("is one of several", () => {
    const evidence = [
      { rollout: "0123456789abcdef", step: 0, quote: "find" },
      { rollout: "0123456789abcdef", step: 1, quote: "invented" },
    ];
    const found = checkEvidence(subjectOf({ proposal: proposalOf({ evidence }) }), contextOf({ records }));
    expect(found).toHaveLength(1);
  });
});
