import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { stringify } from "yaml";
import { loadHarness } from "../../src/config/load-harness.ts";
import { readNeeds } from "../../src/evolve/needs-file.ts";
import { earlierTries, pastTries } from "../../src/evolve/past-tries.ts";
import type { EvolveRun } from "../../src/evolve/run-state.ts";
import { committedFiles } from "../../src/evolve/tree.ts";
import { Ledger } from "../../src/store/ledger.ts";
import { candidateYaml, writeFiles } from "../checks/papers.ts";
import { libraryDesk } from "../support/library-desk.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-papers-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(scratch, "dir-"));
});

describe("needs.yaml", () => {
  const write = (text: string) => {
    mkdirSync(join(dir, "_meta_scratch"));
    writeFileSync(join(dir, "_meta_scratch/needs.yaml"), text);
    return readNeeds(dir);
  };

  test("holds notes for people; none is no note", () => {
    expect(readNeeds(dir)).toEqual([]);
    expect(write(stringify([{ kind: "scope", ask: "May I?", why: "Because." }]))).toEqual([
      { kind: "scope", ask: "May I?", why: "Because.", evidence: [], blocking: false },
    ]);
  });

  test.each([
    ["no YAML", "- ["],
    ["a map", "kind: scope"],
    ["an unknown kind", stringify([{ kind: "wish", ask: "A pony?", why: "Because." }])],
    ["21 notes", stringify(Array.from({ length: 21 }, () => ({ kind: "scope", ask: "May I?", why: "x" })))],
    ["a note of 100 KB", stringify([{ kind: "scope", ask: "x".repeat(100_000), why: "x" }])],
  ])("that cannot be read is itself a note, so that nothing is lost in silence: %s", (_name, text) => {
    const notes = write(text);
    expect(notes).toMatchObject([{ kind: "scope", ask: expect.stringContaining("cannot be read") }]);
    expect(notes[0]?.why.length).toBeLessThanOrEqual(2000);
    expect(notes[0]?.why).not.toContain(dir);
  });
});

describe("the tree of a generation", () => {
  const harness = loadHarness(join(libraryDesk, "baseline"));

  test("holds the canonical config, what it names, and the papers under .lorimer/", () => {
    const papers = new Map([
      ["_meta_scratch/candidate.yaml", "parent: gen/0000\n"],
      ["_meta_scratch/TASK.md", "# Brief\n"],
      ["config.yaml", "prompt: as written\n"],
      ["tools/unused.ts", "export {};\n"],
    ]);
    const files = committedFiles(harness, papers);
    expect(Object.fromEntries(files)).toEqual({
      "config.yaml": harness.canonical,
      "prompts/system.md": "You help at the desk of a small library.\n",
      ".lorimer/candidate.yaml": "parent: gen/0000\n",
      ".lorimer/TASK.md": "# Brief\n",
    });
  });

  test("loads as what it was made of: the papers are outside both hashes", () => {
    const files = committedFiles(harness, new Map([["_meta_scratch/TASK.md", "# Brief\n"]]));
    writeFiles(dir, Object.fromEntries(files));
    const { behaviourHash, generationHash } = loadHarness(dir);
    expect({ behaviourHash, generationHash }).toEqual({
      behaviourHash: harness.behaviourHash,
      generationHash: harness.generationHash,
    });
  });
});

describe("what was tried", () => {
  const checks = (name: string, message: string) => [
    { name: "freeze", status: "pass" as const, findings: [] },
    { name, status: "fail" as const, findings: [{ kind: "x", message }] },
  ];

  async function runWith(fill: (ledger: Ledger) => Promise<unknown>): Promise<EvolveRun> {
    const ledger = await Ledger.open(join(dir, "ledger.jsonl"));
    await fill(ledger);
    const run = { candidateDir: (id: string) => join(dir, id) };
    return { ledger, run } as unknown as EvolveRun;
  }

  function propose(
    ledger: Ledger,
    candidate: string,
    parent = 0,
    behaviour: string | null = `b-${candidate}`,
  ) {
    writeFiles(join(dir, candidate), candidateYaml({ signature: { knob: `knob-${candidate}` } }));
    return ledger.append({
      type: "candidate-proposed",
      candidate,
      round: 1,
      proposer: "mechanic",
      parent,
      lever: "config",
      hypothesis: `about ${candidate}`,
      hash: "h",
      behaviour,
    });
  }

  const judge = (ledger: Ledger, candidate: string, verdict: "accept" | "reject" | "indecisive") =>
    ledger.append({
      type: "verdict",
      candidate,
      verdict,
      reason: "E 3.14 on the gate",
      numbers: { effect: 0.0815 },
    });

  test("tells a proposer of the gate one bit: whether it became champion", async () => {
    const run = await runWith(async (ledger) => {
      for (const [index, id] of ["C1", "C2", "C3", "C4"].entries())
        await propose(ledger, id, index > 2 ? 1 : 0);
      await ledger.append({
        type: "candidate-checked",
        candidate: "C1",
        ok: false,
        checks: checks("literals", "1 finding in a sealed split"),
      });
      await judge(ledger, "C2", "indecisive");
      await judge(ledger, "C3", "accept");
      await ledger.append({ type: "committed", generation: 1, candidate: "C3", commit: "c", tree: "t" });
    });
    const tries = pastTries(run);
    expect(
      tries.map(({ candidate, becameChampion, failedChecks }) => [candidate, becameChampion, failedChecks]),
    ).toEqual([
      ["C1", false, ["literals"]],
      ["C2", false, []],
      ["C3", true, []],
      ["C4", false, []],
    ]);
    expect(tries[3]).toMatchObject({ parent: "gen/0001", signature: "knob-C4" });
    expect(JSON.stringify(tries)).not.toMatch(/indecisive|reject|3\.14|0815|sealed/);
    await run.ledger.close();
  });

  test("keeps what was offered on this champion before, and of the gate no more than that bit", async () => {
    const run = await runWith(async (ledger) => {
      await propose(ledger, "C1");
      await propose(ledger, "C2");
      await propose(ledger, "C3");
      await propose(ledger, "C4", 0, null);
      await propose(ledger, "C5", 1);
      await ledger.append({
        type: "candidate-checked",
        candidate: "C1",
        ok: false,
        checks: checks("x", "y"),
      });
      await ledger.append({ type: "screened", candidate: "C2", passed: false, numbers: {} });
      await judge(ledger, "C3", "indecisive");
    });
    const seqOf = (id: string) =>
      run.ledger.find("candidate-proposed", ({ candidate }) => candidate === id)?.seq ?? 0;
    const all = earlierTries(run, 0, Number.POSITIVE_INFINITY);
    expect(all.map(({ candidate, outcome }) => [candidate, outcome])).toEqual([
      ["C1", "refused by a check"],
      ["C2", "ended by the screen"],
      ["C3", "did not become champion"],
    ]);
    expect(earlierTries(run, 0, seqOf("C2")).map(({ candidate }) => candidate)).toEqual(["C1"]);
    expect(earlierTries(run, 1, Number.POSITIVE_INFINITY).map(({ candidate }) => candidate)).toEqual(["C5"]);
    expect(earlierTries(run, 2, Number.POSITIVE_INFINITY)).toEqual([]);
    await run.ledger.close();
  });
});
