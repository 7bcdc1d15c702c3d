import { readdirSync } from "node:fs";
import type { Command } from "commander";
import { LorimerError } from "../lib/errors.ts";
import { readTrajectory } from "../store/trajectory.ts";
import { factsOf } from "../trace/facts.ts";
import { renderTrace } from "../trace/markdown.ts";
import { readTrace } from "../trace/steps.ts";
import { type CommandContext, type RunOptions, readRun } from "./context.ts";

export function registerTrajectory(program: Command, context: CommandContext): void {
  program
    .command("trajectory")
    .description("one rollout, step by step")
    .argument("<id>", "key of a rollout, or its beginning")
    .option("--run <run>", "which run: id, prefix or latest (the default)")
    .option("--facts", "the mechanical facts only")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action((id: string, options: RunOptions & { run?: string; facts?: boolean }) => {
      const { run, ledger } = readRun(context, options.run, options);
      const keys = readdirSync(run.rolloutsDir).flatMap((name) =>
        name.endsWith(".jsonl") && name.startsWith(id) ? [name.slice(0, -6)] : [],
      );
      const [key] = keys;
      if (key === undefined || keys.length > 1)
        throw new LorimerError(
          keys.length > 1 ? "usage" : "missing",
          `${keys.length} rollouts of ${run.id} begin with ${id}`,
          {
            hint: "`lorimer show GEN` names the rollouts that a candidate cites.",
          },
        );
      const { events, torn } = readTrajectory(run.rolloutFile(key));
      const trace = readTrace(events);
      if (trace === undefined) throw new LorimerError("infra", `the trajectory ${key} has no beginning`);
      if (torn !== "") context.terminal.warn("its last line is torn and was left out");
      const scored = ledger.all("rollout-scored").findLast((record) => record.key === key);
      if (options.facts) return context.terminal.json(factsOf(trace));
      if (options.json)
        return context.terminal.json({
          key,
          outcome: scored?.outcome ?? null,
          score: scored?.score ?? null,
          events,
        });
      context.terminal.result(
        renderTrace(trace, { outcome: scored?.outcome ?? "unscored", score: scored?.score ?? null }),
      );
    });
}
