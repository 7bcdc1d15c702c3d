import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { NoteDraft, Proposal } from "../../config/candidate-schema.ts";
import type { Lever } from "../../config/harness-schema.ts";
import type { Brief, Proposer } from "../proposer.ts";
import { enableBuiltin, moreSteps, tighterCap } from "./config-rules.ts";
import { notesFor } from "./notes.ts";
import { finishNudge, inputCap, repeatGuard, toolErrorTail } from "./processor-rules.ts";
import { answerFormat, requiredCall } from "./prompt-rules.ts";
import type { Diagnosis, Draft, Rule } from "./rule.ts";
import { findInRecords, similarRecords } from "./tool-rules.ts";

/** Ties go to the earlier rule; a config change comes first, since it adds nothing to maintain. */
const rules: readonly Rule[] = [
  moreSteps,
  enableBuiltin,
  tighterCap,
  answerFormat,
  requiredCall,
  inputCap,
  finishNudge,
  toolErrorTail,
  repeatGuard,
  similarRecords,
  findInRecords,
];

interface Choice extends Diagnosis {
  lever: Lever;
}

/** Writes candidates by rules over mechanical facts of the trajectories; no model, no clock, no chance. */
export const mechanic: Proposer = {
  name: "mechanic",
  async propose(brief, outputDir) {
    const choices = rankedChoices(brief);
    const tried = new Set(
      brief.tried.filter(({ parent }) => parent === brief.championName).map((past) => past.signature),
    );
    const choice = choices.find(({ signature }) => !tried.has(signatureKey(signature)));
    const notes = notesFor(brief);
    if (choice === undefined) {
      writeOutput(
        outputDir,
        new Map([["_meta_scratch/candidate.yaml", stringify({ noop: whyNothing(brief, choices) })]]),
        notes,
      );
      return;
    }
    const draft: Draft = {
      config: structuredClone(brief.champion.config),
      files: new Map(brief.champion.files),
    };
    choice.apply(draft);
    const others = choices.filter((other) => other.lever !== choice.lever);
    const files = new Map([
      ["config.yaml", stringify(draft.config)],
      ...draft.files,
      ["_meta_scratch/candidate.yaml", stringify(proposalOf(choice, others, brief))],
      ...(choice.toolSpec ? [["_meta_scratch/TOOL_SPEC.md", choice.toolSpec] as const] : []),
    ]);
    writeOutput(outputDir, files, notes);
  },
};

/** A signature in one word, to know an earlier try by. */
export function signatureKey({ tool, processor, knob }: Proposal["signature"]): string {
  return tool ?? processor ?? knob ?? "";
}

function rankedChoices(brief: Brief): Choice[] {
  if (brief.failing.length === 0) return [];
  return rules
    .flatMap((rule): Choice[] => {
      const diagnosis = rule.diagnose(brief);
      return diagnosis && diagnosis.evidence.length > 0 ? [{ ...diagnosis, lever: rule.lever }] : [];
    })
    .sort((a, b) => b.share - a.share);
}

function proposalOf(choice: Choice, others: readonly Choice[], brief: Brief): Proposal {
  const whyNot: Partial<Record<Lever, string>> = {};
  for (const { lever, hypothesis, signature } of others)
    whyNot[lever] ??= `${signatureKey(signature)} ranks lower: ${hypothesis}`;
  return {
    parent: brief.championName,
    lever: choice.lever,
    hypothesis: choice.hypothesis,
    evidence: choice.evidence,
    predicts: { fixes: choice.fixes, risks: choice.risks ?? [] },
    signature: choice.signature,
    why_not: whyNot,
  };
}

function whyNothing({ failing, championName }: Brief, choices: readonly Choice[]): string {
  if (failing.length === 0) return `${championName} fails on nothing that was observed`;
  if (choices.length === 0) return "nothing in the trajectories speaks for a stock part";
  return `all ${choices.length} parts that the trajectories speak for were tried on ${championName}`;
}

function writeOutput(dir: string, files: ReadonlyMap<string, string>, notes: NoteDraft[]): void {
  const all = new Map(files);
  if (notes.length > 0) all.set("_meta_scratch/needs.yaml", stringify(notes));
  for (const [path, text] of all) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}
