import { resolve } from "node:path";
import type { Command } from "commander";
import { type Checkup, checkMachine, checkRecipe } from "../evolve/doctor.ts";
import { table } from "../report/format.ts";
import type { CommandContext } from "./context.ts";
import { atLeast } from "./numbers.ts";

const marks = { ok: "ok", warning: "warning", bad: "BAD" } as const;

export function registerDoctor(program: Command, context: CommandContext): void {
  program
    .command("doctor")
    .description(
      "what this machine can fence; with a recipe: its tasks, evaluator and baseline, before anything is spent",
    )
    .argument("[recipe]", "folder of a recipe")
    .option("--seed <n>", "draws the recipe's tasks", atLeast(0), 1)
    .option("--json", "print one JSON document")
    .action(async (recipe: string | undefined, options: { json?: boolean; seed: number }) => {
      const checkups = [
        ...(await checkMachine()),
        ...(recipe === undefined ? [] : await checkRecipe(resolve(context.cwd, recipe), options.seed)),
      ];
      const bad = checkups.filter(({ status }) => status === "bad");
      if (options.json) context.terminal.json({ ok: bad.length === 0, checkups });
      else context.terminal.result(describe(checkups));
      // A recipe that cannot run is the recipe's fault; a machine that cannot fence is the machine's.
      if (bad.length > 0) process.exitCode = bad.some(({ about }) => about === "machine") ? 3 : 2;
    });
}

function describe(checkups: readonly Checkup[]): string {
  const rows = checkups.map(({ status, what, detail }) => [marks[status], what, detail]);
  const hints = checkups.flatMap(({ hint, what }) => (hint ? [`  ${what}: ${hint}`] : []));
  return [table(rows), ...(hints.length > 0 ? ["", "what to do", ...hints] : [])].join("\n");
}
