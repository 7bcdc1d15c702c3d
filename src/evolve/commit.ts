import { loadProposal } from "../checks/canonicalize.ts";
import { generationTag } from "../store/generation-history.ts";
import { oneLine } from "../trace/plain-text.ts";
import type { Accepted } from "./evaluate.ts";
import { frozenFiles } from "./frozen.ts";
import { type Champion, type EvolveRun, loadGeneration } from "./run-state.ts";
import { committedFiles } from "./tree.ts";

/** Commits an accepted candidate as the next generation, once, and loads it as the new champion. */
export async function commit(run: EvolveRun, parent: Champion, accepted: Accepted): Promise<Champion> {
  const { ledger, generations } = run;
  const known = ledger.find("committed", (record) => record.candidate === accepted.id);
  const generation = known?.generation ?? parent.generation + 1;
  if (known === undefined) {
    const { commit: id, tree } = await generations.commitGeneration({
      number: generation,
      files: committedFiles(accepted.harness, frozenFiles(accepted)),
      subject: subjectOf(accepted),
      body: accepted.record.hypothesis,
      trailers: trailersOf(run, parent, accepted),
    });
    await ledger.append({ type: "committed", generation, candidate: accepted.id, commit: id, tree });
    run.listen({
      type: "committed",
      generation: generationTag(generation),
      candidate: accepted.id,
      commit: id,
    });
  }
  return await loadGeneration(run, generation);
}

function subjectOf({ record, dir }: Accepted): string {
  const { tool, processor, knob } = loadProposal(dir)?.signature ?? {};
  if (tool) return `Add the tool ${tool}`;
  if (processor) return `Add the processor ${processor}`;
  return knob ? `Change ${knob}` : `Change the ${record.lever}`;
}

function trailersOf(run: EvolveRun, parent: Champion, accepted: Accepted): Record<string, string> {
  const { record, numbers, reason, id, dir } = accepted;
  const interval = numbers["interval"] as { low: number; high: number } | undefined;
  const signed = (value: unknown) => `${Number(value) >= 0 ? "+" : ""}${Number(value).toFixed(3)}`;
  const rollouts = Number(numbers["n"]) * Number(numbers["passes"]) * 2;
  const checks = run.ledger.find("candidate-checked", (checked) => checked.candidate === id)?.checks ?? [];
  const passed = checks.filter(({ status }) => status === "pass").map(({ name }) => name);
  return {
    Candidate: id,
    "Candidate-Hash": record.hash,
    "Parent-Generation": String(parent.generation),
    Lever: record.lever ?? "",
    Hypothesis: oneLine(record.hypothesis, 400),
    Evidence: evidenceLine(dir),
    Effect: `${signed(numbers["effect"])} [${signed(interval?.low)}, ${signed(interval?.high)}] on the gate split`,
    Decision: `accept: ${reason}, confirmation ${String(numbers["k"])} at alpha ${Number(numbers["alpha"]).toFixed(4)}`,
    "Model-Kind": run.bench.model.kind,
    Seed: String(run.seed),
    Rollouts: String(rollouts),
    "Cost-USD": run.budget.spent.usd.toFixed(4),
    Checks: passed.join(", "),
  };
}

function evidenceLine(dir: string): string {
  const evidence = loadProposal(dir)?.evidence ?? [];
  return evidence.map(({ rollout, step }) => `${rollout.slice(0, 12)}:${step}`).join(" ");
}
