import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { buildLiteralCorpus } from "../../src/checks/literals/corpus.ts";
import { type CheckOptions, checkNames } from "../../src/checks/run-checks.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import type { Task } from "../../src/config/recipe-schema.ts";
import { type Desk, openDesk, processorFile, verdictOf } from "./desk.ts";

const desk: Desk = await openDesk();

const open = "The amber heron left a parcel under the third stair";
const hidden = [
  "Nine copper kettles hum beside the frozen canal",
  "Our tallest cousin whittles whistles from driftwood",
  "A velvet glove was mislaid between two harpsichords",
];
const taskOf = (input: string, index: number): Task => ({
  id: `t-${index}x9`,
  input,
  expected: `answer ${index}`,
});
const corpora = {
  evolve: buildLiteralCorpus([taskOf(open, 0)], []),
  sealed: buildLiteralCorpus(
    hidden.map((text, index) => taskOf(text, index + 1)),
    [],
  ),
};

const prompted = (...lines: string[]) =>
  desk.candidate({
    files: {
      "prompts/system.md": `You help at a desk.\n${lines.join("\n")}\nEnd with one line of the form "DESK <desk>".\n`,
    },
    papers: { lever: "prompt", signature: { knob: "prompt" } },
  });

describe("literals", () => {
  const literalsOf = async (dir: string, literals: CheckOptions["literals"] = corpora) => {
    const { ok, checks } = await desk.check(dir, literals && { literals });
    const { status, findings = [] } = checks.find(({ name }) => name === "literals") ?? {};
    return { ok, status, findings: findings.filter(({ warning }) => !warning) };
  };

  test("of the evolve split are told with their place", async () => {
    const { ok, findings } = await literalsOf(prompted(open));
    expect(ok).toBe(false);
    expect(findings[0]).toMatchObject({ file: "prompts/system.md", line: 2 });
  });

  test.each([1, 2, 3])(
    "of sealed splits are told without place, excerpt or number: %d of them",
    async (count) => {
      expect(await literalsOf(prompted(...hidden.slice(0, count)))).toEqual({
        ok: false,
        status: "fail",
        findings: [{ kind: "literals", message: "1 finding in a sealed split" }],
      });
    },
  );

  test("of sealed splits are not looked for where an open one was found, nor where they are not given", async () => {
    const both = await literalsOf(prompted(open, ...hidden));
    expect(JSON.stringify(both.findings)).not.toMatch(/sealed|kettles|cousin|velvet/);
    const { ok, status } = await literalsOf(prompted(...hidden), { evolve: corpora.evolve });
    expect({ ok, status }).toEqual({ ok: true, status: "pass" });
  });
});

test("the checks are always the same, in order; those that cannot run are skipped", async () => {
  const whole = await desk.check(prompted("Be kind."), { literals: corpora });
  expect(whole.checks.map(({ name }) => name)).toEqual([...checkNames]);
  expect(whole.checks.filter(({ status }) => status === "skipped").map(({ name }) => name)).toEqual([
    "tool-spec",
  ]);
  expect(whole.ok).toBe(true);
});

test("code of a candidate that is refused already does not run", async () => {
  const { file, text, entry } = processorFile("async *onStepEnd(event) { for (;;) {} }");
  const evidence = [{ rollout: "nowhere", step: 0, quote: "nothing" }];
  const dir = desk.candidate({
    config: { processors: [entry] },
    files: { [file]: text },
    papers: { lever: "processor", evidence },
  });
  const { checks } = await desk.check(dir);
  const statuses = Object.fromEntries(checks.map(({ name, status }) => [name, status]));
  expect(statuses).toMatchObject({ evidence: "fail", "dry-fire": "skipped", replay: "skipped" });
});

test("a rejected change is refused again on its champion, and may be offered on the next", async () => {
  const dir = prompted("Be kind.");
  const { behaviourHash } = loadHarness(dir);
  const earlier = [{ candidate: "R01-C02", behaviour: behaviourHash, outcome: "did not become champion" }];
  const again = await desk.check(dir, { context: { ...desk.context, earlier } });
  expect(verdictOf(again)).toEqual({
    failed: "novelty",
    says: "novelty: is R01-C02 again, on the same champion (did not become champion)",
  });
  // The next champion has another knob; what was tried on the first is none of its earlier tries.
  const next = loadHarness(desk.candidate({ config: { limits: { max_steps: 5 } } }));
  const yaml = join(dir, "_meta_scratch/candidate.yaml");
  writeFileSync(yaml, readFileSync(yaml, "utf8").replace("gen/0000", "gen/0001"));
  const config = join(dir, "config.yaml");
  writeFileSync(config, readFileSync(config, "utf8").replace("max_steps: 6", "max_steps: 5"));
  const context = { ...desk.context, champion: next, championName: "gen/0001", earlier: [] };
  const offered = await desk.check(dir, { context });
  expect(offered.checks.find(({ name }) => name === "novelty")?.status).toBe("pass");
  expect(offered.ok).toBe(true);
});
