import type { Command } from "commander";
import { diffHarness, type HarnessDiff } from "../config/diff.ts";
import type { LoadedHarness } from "../config/harness.ts";
import { unifiedDiff } from "../config/unified-diff.ts";
import type { LedgerView } from "../store/ledger.ts";
import { plainText } from "../trace/plain-text.ts";
import { type CommandContext, type RunOptions, readHarness, readRun } from "./context.ts";

export function registerDiff(program: Command, context: CommandContext): void {
  program
    .command("diff")
    .description("two generations: what changed in meaning and code, and which tasks flipped")
    .argument("<a>", "gen/0000, R02-C01, a git ref, or a folder")
    .argument("<b>", "the same")
    .option("--run <run>", "whose generations: id, prefix or latest (the default)")
    .option("--runs <dir>", "folder of runs; default: runs/ beside the nearest package.json or .git")
    .option("--json", "print one JSON document")
    .action(async (a: string, b: string, options: RunOptions & { run?: string }) => {
      const { run, ledger } = readRun(context, options.run, options);
      const [before, after] = [await readHarness(a, run), await readHarness(b, run)];
      const diff = diffHarness(before, after);
      const flips = flipsOf(ledger, before, after);
      if (options.json) return context.terminal.json({ a, b, diff, flips });
      context.terminal.result(
        plainText(
          [
            `${a} → ${b}: ${diff.leversTouched.join(", ") || "no difference in behaviour"}`,
            ...describe(diff),
            ...describeFlips(flips),
          ].join("\n"),
        ),
      );
    });
}

function describe(diff: HarnessDiff): string[] {
  const lines: string[] = [];
  for (const [kind, list] of [
    ["tool", diff.tools],
    ["processor", diff.processors],
    ["skill", diff.skills],
  ] as const) {
    for (const { name } of list.removed) lines.push(`- ${kind} ${name}`);
    for (const { name, text } of list.added)
      lines.push(`+ ${kind} ${name}`, ...indented(unifiedDiff("", text)));
    for (const { name, before, after } of list.changed)
      lines.push(`~ ${kind} ${name}`, ...indented(unifiedDiff(before, after)));
    if (list.order)
      lines.push(`~ ${kind} order: ${list.order.before.join(", ")} → ${list.order.after.join(", ")}`);
  }
  if (diff.prompt) lines.push("~ prompt", ...indented(unifiedDiff(diff.prompt.before, diff.prompt.after)));
  for (const { path, before, after } of diff.knobs)
    lines.push(`~ ${path}: ${JSON.stringify(before)} → ${JSON.stringify(after)}`);
  return lines;
}

function indented(text: string): string[] {
  return text
    .trimEnd()
    .split("\n")
    .map((line) => `    ${line}`);
}

interface Flips {
  /** Tasks of the evolve and gate splits with rollouts of both. */
  compared: number;
  gained: string[];
  lost: string[];
}

/** Tasks whose pass rate moved by half or more, over all stored rollouts of both. */
function flipsOf(ledger: LedgerView, a: LoadedHarness, b: LoadedHarness): Flips {
  const rates = (behaviour: string) => {
    const byTask = new Map<string, number[]>();
    for (const { behaviour: of, split, task, score } of ledger.all("rollout-scored")) {
      if (of !== behaviour || split === "test" || score === null) continue;
      byTask.set(task, [...(byTask.get(task) ?? []), score]);
    }
    return new Map(
      [...byTask].map(([task, scores]) => [
        task,
        scores.reduce((sum, score) => sum + score, 0) / scores.length,
      ]),
    );
  };
  const [before, after] = [rates(a.behaviourHash), rates(b.behaviourHash)];
  const common = [...before.keys()].filter((task) => after.has(task)).sort();
  const moved = (sign: number) =>
    common.filter((task) => sign * ((after.get(task) ?? 0) - (before.get(task) ?? 0)) >= 0.5);
  return { compared: common.length, gained: moved(1), lost: moved(-1) };
}

function describeFlips({ compared, gained, lost }: Flips): string[] {
  if (compared === 0) return ["no stored rollouts of both to compare"];
  const shown = (tasks: string[]) =>
    tasks.length > 12 ? `${tasks.slice(0, 12).join(", ")} and ${tasks.length - 12} more` : tasks.join(", ");
  return [
    `tasks with rollouts of both: ${compared}`,
    ...(gained.length > 0 ? [`  now pass (${gained.length}): ${shown(gained)}`] : []),
    ...(lost.length > 0 ? [`  now fail (${lost.length}): ${shown(lost)}`] : []),
  ];
}
