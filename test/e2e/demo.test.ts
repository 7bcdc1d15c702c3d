import { execFileSync } from "node:child_process";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Refusal, RunSummary } from "../../src/report/summary.ts";
import { gitIn, treesOf } from "./support/git.ts";
import { recordsOf } from "./support/ledger.ts";
import { inboxTriage, json, lorimer, succeed, temporaryFolders } from "./support/lorimer.ts";

// One run of the demonstration, as a newcomer starts it; every test below looks at it.
const temporary = temporaryFolders();
const runs = join(temporary(), "runs");
const dir = join(runs, "inbox-triage-0001");
const on = ["--runs", runs];
let summary: RunSummary;
let progress: string;

beforeAll(async () => {
  const { code, stdout, stderr } = await lorimer(["evolve", inboxTriage, ...on, "--seed", "1", "--json"]);
  expect(code, stderr).toBe(0);
  summary = JSON.parse(stdout) as RunSummary;
  progress = stderr;
});

describe("what evolve says at its end", () => {
  test("it accepted three levers, and refused with reasons", async () => {
    expect(summary).toMatchObject({ run: "inbox-triage-0001", model_kind: "sim", seed: 1 });
    expect(summary.accepted).toBeGreaterThanOrEqual(3);
    expect(summary.levers).toMatchObject({ tool: 1, processor: 1, prompt: 1 });
    const { refused } = await json<{ refused: Refusal[] }>(["log", ...on]);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    expect(summary.rejected).toBe(refused.length);
    for (const { by, reason } of refused) expect(`${by} ${reason}`).toMatch(/^\S+ .{10,}/);
  });

  test("its scores come from rollouts that decided nothing, with n and intervals", () => {
    const { baseline, champion } = summary;
    expect(baseline?.score).toBeGreaterThanOrEqual(0.02);
    expect(baseline?.score).toBeLessThanOrEqual(0.15);
    expect(champion?.score).toBeGreaterThanOrEqual(0.85);
    for (const score of [baseline, champion]) {
      const [low = 1, high = 0] = score?.interval ?? [];
      expect(low).toBeLessThan(score?.score ?? 0);
      expect(high).toBeGreaterThan(score?.score ?? 1);
      expect(score?.n).toBe(300);
    }
    const scoring = new Set(seedsOf("score"));
    expect(
      seedsOf("confirm")
        .concat(seedsOf("screen"))
        .filter((seed) => scoring.has(seed)),
    ).toEqual([]);
  });

  test("what must not be accepted is not, and commits nothing", () => {
    const controls = recordsOf(dir, "control").map(({ control, verdict, numbers }) => ({
      control,
      verdict,
      reason: String(numbers["reason"]),
    }));
    const plain = controls.find(({ control }) => control === "memoriser, in plain words");
    const hashed = controls.find(({ control }) => control === "memoriser, hashed");
    const nothing = controls.find(({ control }) => control === "champion against itself");
    expect(plain).toMatchObject({ verdict: "refused", reason: expect.stringMatching(/^literals: /) });
    expect(hashed?.verdict).toBe("reject");
    expect(nothing?.verdict).toMatch(/^(reject|indecisive)$/);
    const memorised = recordsOf(dir, "control").find(({ control }) => control === "memoriser, hashed");
    expect(memorised?.numbers["evolve"]).toBeGreaterThan(0.8);
    expect(memorised?.numbers["candidate"]).toBeLessThan(0.7);
    const candidates = recordsOf(dir, "committed").map(({ candidate }) => candidate);
    expect(candidates.filter((candidate) => candidate !== null && !/^R\d\d-C\d\d$/.test(candidate))).toEqual(
      [],
    );
    expect(candidates).toHaveLength(summary.accepted + 1);
  });

  test("progress goes to stderr, without control characters where it is no terminal", () => {
    expect(progress).toContain("fence ");
    expect(progress).toMatch(/round 1, champion gen\/0000/);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
    expect(progress).not.toMatch(/[\x00-\x09\x0b-\x1f]/);
  });

  test("a rejected part is offered again on another champion, and only then", () => {
    const proposed = recordsOf(dir, "candidate-proposed").filter(({ noop }) => noop === undefined);
    const tries = proposed.map(({ parent, hypothesis, candidate }) => ({
      parent,
      part: partOf(candidate) ?? hypothesis,
    }));
    const keys = tries.map(({ parent, part }) => `${part} on ${parent}`);
    expect(new Set(keys).size).toBe(keys.length);
    const parents = tries.filter(({ part }) => part === "InputCap").map(({ parent }) => parent);
    expect(parents.length).toBeGreaterThan(1);
  });
});

function seedsOf(purpose: string): number[] {
  return recordsOf(dir, "rollout-scored")
    .filter((record) => record.purpose === purpose)
    .map(({ seed }) => seed);
}

function partOf(candidate: string): string | undefined {
  const text = readFileSync(join(dir, "candidates", candidate, "_meta_scratch/candidate.yaml"), "utf8");
  return /^\s+(?:tool|processor|knob): (.+)$/m.exec(text)?.[1];
}

describe("what lies on disk", () => {
  test("git has a commit and a tag a generation, with trailers, and is sound", () => {
    const subjects = gitIn(dir, "log", "--reverse", "--format=%s").split("\n");
    expect(subjects[0]).toBe("Start from the baseline of inbox-triage");
    expect(subjects).toHaveLength(summary.accepted + 1);
    expect(subjects).toContain("Add the tool similar_records");
    const tags = gitIn(dir, "tag", "--list").split("\n");
    expect(tags).toEqual(subjects.map((_, number) => `gen/${String(number).padStart(4, "0")}`));
    for (const name of ["Candidate", "Lever", "Hypothesis", "Evidence", "Effect", "Decision", "Model-Kind"])
      expect(gitIn(dir, "log", "-1", `--format=%(trailers:key=${name},valueonly)`)).not.toBe("");
    expect(gitIn(dir, "fsck", "--full", "--strict")).toBe("");
    expect(gitIn(dir, "status", "--porcelain")).toBe("");
    const refused = gitIn(dir, "for-each-ref", "--format=%(refname)", "refs/candidates").split("\n");
    expect(refused.length).toBeGreaterThanOrEqual(summary.rejected);
  });

  test("an accepted tool has its spec, with inputs quoted from failing trajectories", () => {
    const spec = gitIn(dir, "show", "gen/0002:.lorimer/TOOL_SPEC.md");
    for (const section of ["Capability", "Class", "Inputs", "Output", "Failure modes"])
      expect(spec.toLowerCase()).toContain(section.toLowerCase());
  });

  test("a clone elsewhere loads, runs and is the same harness", async () => {
    const clone = join(temporary(), "clone");
    execFileSync("git", ["clone", "--quiet", join(dir, "generations"), clone]);
    const there = [
      "run",
      inboxTriage,
      "--generation",
      clone,
      "--split",
      "gate",
      "--runs",
      join(clone, "..", "runs"),
    ];
    const { score, n } = await json<{ score: number; n: number }>(there);
    expect(n).toBe(100);
    expect(score).toBeGreaterThan(0.8);
    expect(await succeed(["diff", "gen/0003", clone, ...on])).toContain("no difference in behaviour");
  });
});

describe("the commands that look at it", () => {
  test("status, list and log", async () => {
    const { seconds: _, rollouts, ...rest } = summary;
    const status = await json<RunSummary>(["status", ...on]);
    expect(status).toMatchObject({ ...rest, rollouts: { paid: rollouts.paid } });
    expect(await succeed(["status", "inbox-triage-0001", ...on])).toContain("Accepted generations");
    expect(await json(["list", ...on])).toMatchObject([
      { run: "inbox-triage-0001", accepted: summary.accepted },
    ]);
    expect(await succeed(["list", ...on])).toMatch(/inbox-triage-0001 .* sim /);
    const log = await json<{ generations: { tree: string }[] }>(["log", ...on]);
    expect(log.generations.map(({ tree }) => tree)).toEqual(treesOf(dir));
    expect(await succeed(["log", ...on])).toMatch(/^gen\/000[3-9] /);
    const journal = await succeed(["log", "--journal", ...on]);
    expect(readFileSync(join(dir, "journal.md"), "utf8").trim()).toBe(journal.trim());
  });

  test("show: a generation by number, tag or candidate, and a refused candidate with its reason", async () => {
    const shown = await succeed(["show", "gen/0002", ...on]);
    expect(shown).toContain("Add the tool similar_records");
    expect(shown).toContain("=== .lorimer/TOOL_SPEC.md");
    expect(await succeed(["show", "2", ...on])).toBe(shown);
    const { refused } = await json<{ refused: Refusal[] }>(["log", ...on]);
    for (const { candidate, reason } of refused.slice(0, 2))
      expect(await succeed(["show", candidate, ...on])).toContain(reason.slice(0, 60));
    expect(await lorimer(["show", "gen/0099", ...on])).toMatchObject({ code: 2, stdout: "" });
  });

  test("trajectory: text, facts and JSON, of a rollout that the evidence names", async () => {
    const [cited = ""] = gitIn(dir, "log", "-1", "--format=%(trailers:key=Evidence,valueonly)").split(":");
    expect(cited).toMatch(/^[0-9a-f]{12}$/);
    const text = await succeed(["trajectory", cited, ...on]);
    expect(text).toContain("outcome: fail");
    expect(text).toContain("Task: inbox triage");
    const facts = await succeed(["trajectory", cited, "--facts", ...on]);
    expect(JSON.parse(facts)).toMatchObject({ exitReason: expect.any(String), steps: expect.any(Number) });
    expect(await json(["trajectory", cited, ...on])).toMatchObject({ outcome: "fail", score: 0 });
    expect(await lorimer(["trajectory", "zz", ...on])).toMatchObject({ code: 2, stdout: "" });
    for (const shown of [text, facts]) expect(shown).not.toMatch(/expected/i);
  });

  test("diff: tools, prompt hunks, code, knobs and flips", async () => {
    const diff = await succeed(["diff", "gen/0000", "gen/0003", ...on]);
    expect(diff).toContain("+ tool similar_records");
    expect(diff).toContain("export const similar_records = tool({");
    expect(diff).toContain("+ processor InputCap");
    expect(diff).toMatch(/~ prompt\n\s+@@.*\n\s+You help to keep an inbox tidy\.\n\s+\+.*ROUTE <route>/);
    expect(diff).toMatch(/now pass \(1\d\d\)/);
    const edited = join(temporary(), "edited");
    cpSync(join(dir, "generations"), edited, { recursive: true });
    const config = readFileSync(join(edited, "config.yaml"), "utf8");
    writeFileSync(join(edited, "config.yaml"), config.replace("max_steps: 8", "max_steps: 5"));
    expect(await succeed(["diff", "gen/0003", edited, ...on])).toContain("~ limits.max_steps: 8 → 5");
    const candidate = await succeed(["diff", "gen/0000", "R01-C03", ...on]);
    expect(candidate).toContain("+ processor InputCap");
    expect(candidate).not.toContain("similar_records");
  });

  test("needs: something that a person could act on", async () => {
    const notes = await json<{ id: string; kind: string; ask: string; why: string }[]>(["needs", ...on]);
    expect(notes.length).toBe(summary.needs_open);
    const decision = notes.find(({ kind }) => kind === "decision");
    expect(decision?.ask).toContain("queue.history");
    expect(decision?.why.length).toBeGreaterThan(40);
    expect(await succeed(["needs", ...on])).toContain(decision?.id);
    expect(readFileSync(join(runs, "../_meta_scratch/NEEDS_FROM_HUMAN.md"), "utf8")).toContain(decision?.ask);
  });

  test("schema: of what is written here", async () => {
    for (const name of ["config", "recipe", "event"])
      expect(JSON.parse(await succeed(["schema", name]))).toHaveProperty("$schema");
    const unknown = await lorimer(["schema", "nothing"]);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("config");
  });

  test("validate: with the run it says what is wrong, without one it claims nothing", async () => {
    interface Validated {
      ok: boolean;
      checks: { name: string; status: string; findings: { message: string }[] }[];
    }
    const accepted = join(dir, "candidates", "R03-C01");
    const again = await lorimer(["validate", accepted, "--run", "latest", ...on, "--json"]);
    expect(again.code).toBe(1);
    const { ok, checks } = JSON.parse(again.stdout) as Validated;
    expect(ok).toBe(false);
    expect(checks.find(({ name }) => name === "novelty")).toMatchObject({ status: "fail" });

    const alone = await lorimer(["validate", accepted, "--json"]);
    expect(alone.code).toBe(1);
    const skipped = (JSON.parse(alone.stdout) as Validated).checks.filter(
      ({ status }) => status === "skipped",
    );
    expect(skipped.map(({ name }) => name)).toContain("replay");
    expect(await json(["validate", accepted, "--static"])).toMatchObject({ ok: true });

    const nothing = await lorimer(["validate", join(dir, "no-such-folder")]);
    expect(nothing).toMatchObject({ code: 2, stdout: "" });
  });
});

describe("the sealed split", () => {
  interface Final {
    stored: boolean;
    score: number;
    n: number;
    looks: number;
  }

  test("is scored once; then the stored result is shown and the run is closed", async () => {
    const first = await json<Final>(["final", ...on]);
    expect(first).toMatchObject({ stored: false, n: 180, looks: 1, model_kind: "sim" });
    expect(Math.abs(first.score - (summary.champion?.score ?? 0))).toBeLessThan(0.1);
    const scored = recordsOf(dir, "rollout-scored").length;
    expect(await json(["final", ...on])).toEqual({ ...first, stored: true });
    expect(recordsOf(dir, "rollout-scored")).toHaveLength(scored);
    expect(await succeed(["final", ...on])).toContain("stored result");
    const closed = await lorimer(["evolve", "--resume", ...on]);
    expect(closed).toMatchObject({ code: 1, stdout: "" });
    expect(closed.stderr).toContain("closed");
  });
});
