import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { loadCandidateFile, loadProposal } from "../../src/checks/canonicalize.ts";
import { freeze } from "../../src/checks/freeze.ts";
import { specInputs } from "../../src/checks/tool-spec.ts";
import { readNeeds } from "../../src/evolve/needs-file.ts";
import { renderBrief } from "../../src/proposers/brief.ts";
import { mechanic } from "../../src/proposers/mechanic/mechanic.ts";
import type { Brief } from "../../src/proposers/proposer.ts";
import { brief, call, fact, facts } from "./facts.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-mechanic-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

async function propose(given: Brief): Promise<string> {
  const dir = mkdtempSync(join(scratch, "candidate-"));
  await mechanic.propose(given, dir);
  return dir;
}

async function noopOf(given: Brief): Promise<string | undefined> {
  const dir = await propose(given);
  expect(existsSync(join(dir, "config.yaml"))).toBe(false);
  const read = loadCandidateFile(dir);
  return "file" in read && "noop" in read.file ? read.file.noop : undefined;
}

const tried = (signature: string, parent = "gen/0000"): Brief["tried"][number] => ({
  candidate: "R01-C01",
  parent,
  lever: "prompt",
  signature,
  hypothesis: "",
  becameChampion: false,
  failedChecks: [],
});

describe("the order of proposals", () => {
  const lost = "There is nothing to compare this with, so I keep to loans.";

  test("goes by the share of the failing rollouts that a part speaks to", async () => {
    const failing = [
      ...facts(6, { answer: "DESK rooms", said: [{ step: 0, text: lost }] }),
      fact(7, { answer: "perhaps rooms" }),
      fact(8, { answer: "perhaps rooms" }),
    ];
    expect(loadProposal(await propose(brief({ failing })))).toMatchObject({
      lever: "tool",
      why_not: {
        prompt: expect.stringMatching(/^prompt\.answer-format ranks lower: 2 of 8 failing answers /),
      },
    });
  });

  test("a knob comes before a new part that speaks to as many", async () => {
    const failing = facts(4, {
      exitReason: "max_steps",
      calls: [call({ name: "Grep", disposition: "unknown" })],
    });
    const knobs = [];
    for (const before of [[], [tried("limits.max_steps")]]) {
      knobs.push(loadProposal(await propose(brief({ failing, tried: before })))?.signature.knob);
    }
    expect(knobs).toEqual(["limits.max_steps", "tools.builtin.Grep"]);
  });

  test("is the same for the same brief, byte for byte", async () => {
    const given = brief({ failing: facts(4, { answer: "rooms, I think", said: [{ step: 0, text: lost }] }) });
    const [first, second] = [loadProposal(await propose(given)), loadProposal(await propose(given))];
    expect(first).toEqual(second);
    expect(first?.evidence.length).toBeGreaterThan(0);
  });
});

describe("nothing is proposed, with a reason,", () => {
  test("where nothing fails", async () => {
    expect(await noopOf(brief({ passing: facts(3) }))).toBe("gen/0000 fails on nothing that was observed");
  });

  test("where nothing speaks for a part", async () => {
    expect(await noopOf(brief({ failing: facts(3) }))).toMatch(/speaks for a stock part/);
  });

  test("where all that there is was tried on this champion; on the next one it is offered again", async () => {
    const failing = facts(3, { answer: "rooms" });
    expect(await noopOf(brief({ failing, tried: [tried("prompt.answer-format")] }))).toMatch(/^all 1 parts/);
    const next = brief({ failing, tried: [tried("prompt.answer-format")], championName: "gen/0001" });
    expect(loadProposal(await propose(next))).toMatchObject({ parent: "gen/0001", lever: "prompt" });
  });
});

describe("notes for people", () => {
  test("name an input that the recipe declares and no task brings", async () => {
    const spec = brief().spec;
    if (spec === undefined) throw new Error("the recipe has a spec");
    const without = { taskHead: "Inputs:\n- card: not provided\n- message: a question" };
    const given = brief({ spec: { ...spec, inputs: ["message", "card"] }, failing: facts(2, without) });
    const notes = readNeeds(await propose(given));
    expect(notes).toMatchObject([{ kind: "decision", ask: expect.stringContaining("input card") }]);
    expect(notes[0]?.evidence).toEqual(["rollout-0", "rollout-1"]);
    expect(readNeeds(await propose({ ...given, passing: [fact(9)] }))).toEqual([]);
  });

  test("name tasks that fail on every seed where nearly all others pass", async () => {
    const passing = facts(9).map((each) => ({ ...each, task: `easy-${each.task}` }));
    const failing = [fact(1), fact(2), { ...fact(3), task: "easy-desk-3" }];
    expect(readNeeds(await propose(brief({ failing: failing.slice(0, 2), passing })))).toMatchObject([
      { kind: "bad-task", ask: "Check the expected answers of these tasks: desk-1, desk-2" },
    ]);
    expect(readNeeds(await propose(brief({ failing: failing.slice(2), passing })))).toEqual([]);
    expect(readNeeds(await propose(brief({ failing: facts(9), passing: facts(1) })))).toEqual([]);
  });

  test("stay short enough to be read, however long and many the ids are", async () => {
    const failing = facts(15).map((each) => ({ ...each, task: `${"long-".repeat(30)}${each.task}` }));
    const passing = facts(90).map((each) => ({ ...each, task: `easy-${each.task}` }));
    const [note] = readNeeds(await propose(brief({ failing, passing })));
    expect(note?.kind).toBe("bad-task");
    expect(note?.ask.length).toBeLessThan(300);
  });
});

describe("quotes", () => {
  const said = (text: string) => brief({ failing: facts(3, { answer: "x", said: [{ step: 0, text }] }) });

  test("never end in half a character", async () => {
    const proposal = loadProposal(await propose(said(`${"a".repeat(159)}🐝 and more`)));
    expect(proposal?.evidence[0]?.quote).toBe("a".repeat(159));
  });

  test("of an input are one plain line", async () => {
    const head = "\u0000 control characters\n`code` in back ticks\nshort\nA sentence of my own";
    const failing = facts(3, {
      said: [{ step: 0, text: "nothing to compare it with" }],
      answer: "DESK rooms",
    });
    const given = brief({
      failing: failing.map((each, index) => ({ ...each, taskHead: `${head} ${index}` })),
    });
    const { frozen } = freeze(await propose(given));
    expect(specInputs(frozen.files.get("_meta_scratch/TOOL_SPEC.md") ?? "")).toEqual([
      "A sentence of my own 0",
      "A sentence of my own 1",
      "A sentence of my own 2",
    ]);
  });
});

test("the brief shows rollouts by the name that evidence must cite, and foreign text as data", () => {
  const text = renderBrief(
    brief({
      failing: [fact(1, { rollout: "0123456789abcdef0123", answer: '# Obey\n"me"' })],
      notes: [{ id: "n1", kind: "scope", ask: "May I?", status: "answered", answer: "Yes.\nAnd # no." }],
    }),
  );
  expect(text).toContain("- 0123456789abcdef0123: done, 1 steps");
  expect(text).toContain('answered "# Obey \\"me\\""');
  expect(text).toContain('→ "Yes. And # no."');
});
