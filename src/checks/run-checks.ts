import { PartError } from "../agent/parts.ts";
import type { Proposal } from "../config/candidate-schema.ts";
import { diffHarness } from "../config/diff.ts";
import type { LoadOptions } from "../config/load-harness.ts";
import { instantiate, loadCandidate, loadCandidateFile } from "./canonicalize.ts";
import type { CheckResult, Finding } from "./check.ts";
import { checkDryFire } from "./dry-fire.ts";
import { checkEvidence } from "./evidence.ts";
import { type Frozen, freeze } from "./freeze.ts";
import { checkLever, checkNovelty } from "./lever.ts";
import { checkLiterals } from "./literals/check-literals.ts";
import type { LiteralCorpus } from "./literals/corpus.ts";
import { type ReplayReport, replayGate } from "./replay/gate.ts";
import type { RunContext, Subject } from "./subject.ts";
import { checkToolSpec } from "./tool-spec.ts";

export interface CheckOptions {
  load: LoadOptions;
  /** Absent: literals are skipped. */
  literals?: { evolve: LiteralCorpus; sealed?: LiteralCorpus };
  /** Absent: what needs a run is skipped. */
  context?: RunContext;
  /** The hash when the proposer stopped; another one now means that something wrote afterwards. */
  frozenHash?: string;
}

export interface Validation {
  ok: boolean;
  checks: CheckResult[];
  replay: ReplayReport | undefined;
}

/** Check names in the order in which they run, cheapest first. */
export const checkNames = [
  "freeze",
  "canonicalize",
  "literals",
  "evidence",
  "tool-spec",
  "novelty",
  "dry-fire",
  "replay",
] as const;
type CheckName = (typeof checkNames)[number];

/** Runs every check on an output directory. What cannot be built is checked no further; nothing fails open. */
export async function runChecks(dir: string, options: CheckOptions): Promise<Validation> {
  const results = new Results();
  const { frozen, findings } = freeze(dir);
  const touched = options.frozenHash !== undefined && options.frozenHash !== frozen.hash;
  const changed: Finding[] = touched
    ? [{ kind: "freeze", message: "was changed after its author stopped" }]
    : [];
  results.add("freeze", [...findings, ...changed]);
  const subject = results.failed ? undefined : await canonicalize(dir, frozen, options, results);
  if (subject === undefined || results.failed) return results.finish();

  const { context, literals } = options;
  results.add("literals", literals && literalFindings(frozen, literals));
  results.add("evidence", context && [...checkLever(subject), ...checkEvidence(subject, context)]);
  results.add("tool-spec", context && checkToolSpec(subject, context));
  results.add("novelty", context && checkNovelty(subject, context));
  // Code of a candidate that is refused already is not worth running.
  if (results.failed || context === undefined) return results.finish();
  results.add("dry-fire", await closed(() => checkDryFire(subject, context)));
  if (results.failed) return results.finish();
  let replay: ReplayReport | undefined;
  const found = await closed(async () => {
    replay = await replayGate(subject, context);
    return replay.findings;
  });
  results.add("replay", found);
  return results.finish(replay);
}

/** A part that could be built once and cannot be built again is refused like any other. */
async function closed(check: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof PartError)) throw error;
    return [{ kind: "canonicalize", message: error.message, file: error.file }];
  }
}

/** Parses, resolves, and builds every part inside the fence where there is one. */
async function canonicalize(
  dir: string,
  frozen: Frozen,
  { load, context }: CheckOptions,
  results: Results,
): Promise<Subject | undefined> {
  const loaded = loadCandidate(dir, load);
  if ("findings" in loaded) {
    results.add("canonicalize", loaded.findings);
    return undefined;
  }
  const { harness } = loaded;
  const file = loadCandidateFile(dir);
  // What was loaded must be what is frozen: a writer that goes on writing gets neither.
  if (freeze(dir).frozen.hash !== frozen.hash) {
    results.add("canonicalize", [{ kind: "freeze", message: "was changed while it was checked" }]);
    return undefined;
  }
  const papers = "findings" in file ? file.findings : "noop" in file.file ? [noProposal(file.file.noop)] : [];
  const built = context ? await instantiate(harness, context.bench) : [];
  results.add("canonicalize", [...(context ? papers : []), ...built]);
  const proposal = "file" in file && !("noop" in file.file) ? file.file : unnamed;
  const leversTouched = context ? diffHarness(context.champion, harness).leversTouched : [];
  return { dir, frozen, harness, proposal, leversTouched };
}

function noProposal(reason: string): Finding {
  return {
    kind: "candidate.yaml",
    message: `proposes nothing: ${reason}`,
    file: "_meta_scratch/candidate.yaml",
  };
}

/** Stands in for a proposal where a folder is checked outside a run; no check that reads it runs then. */
const unnamed: Proposal = {
  parent: "",
  lever: "config",
  hypothesis: "",
  evidence: [],
  predicts: { fixes: [], risks: [] },
  signature: {},
  why_not: {},
};

/** Findings of the evolve split with their place; of sealed splits, only that there are some. */
function literalFindings(
  { files }: Frozen,
  { evolve, sealed }: NonNullable<CheckOptions["literals"]>,
): Finding[] {
  const harness = new Map([...files].filter(([path]) => !path.startsWith("_meta_scratch/")));
  const open = checkLiterals({ files: harness, corpus: evolve });
  if (sealed === undefined || open.some((finding) => !finding.warning)) return open;
  const hidden = checkLiterals({ files: harness, corpus: sealed }).filter((finding) => !finding.warning);
  // One, however many there are: a count would tell how many of a candidate's guesses are right.
  return hidden.length === 0 ? open : [...open, { kind: "literals", message: "1 finding in a sealed split" }];
}

class Results {
  private readonly checks: CheckResult[] = [];

  /** `undefined` findings: the check does not apply here. */
  add(name: CheckName, findings: Finding[] | undefined): void {
    const fails = (findings ?? []).some((finding) => !finding.warning);
    this.checks.push({
      name,
      status: findings === undefined ? "skipped" : fails ? "fail" : "pass",
      findings: findings ?? [],
    });
  }

  get failed(): boolean {
    return this.checks.some(({ status }) => status === "fail");
  }

  finish(replay?: ReplayReport): Validation {
    const ran = new Set(this.checks.map(({ name }) => name));
    const skipped = checkNames
      .filter((name) => !ran.has(name))
      .map((name): CheckResult => ({ name, status: "skipped", findings: [] }));
    return { ok: !this.failed, checks: [...this.checks, ...skipped], replay };
  }
}
