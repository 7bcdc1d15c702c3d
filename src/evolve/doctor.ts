import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawBench, openBench } from "../bench/bench.ts";
import { tryEvaluator } from "../bench/evaluators/index.ts";
import { type Checkup, checkMachine } from "../bench/machine.ts";
import { nearDuplicateGroups } from "../bench/near-duplicates.ts";
import { instantiate } from "../checks/canonicalize.ts";
import { loadRecipe } from "../config/load-recipe.ts";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { stockHashes } from "../proposers/mechanic/stock.ts";
import { doubtsAbout, powerOf } from "./recipe-lint.ts";
import { baselineDir, loadOn } from "./run-state.ts";

export type { Checkup };
export { checkMachine };

/** A recipe before anything is spent: tasks and splits, near-copies between them, evaluator both ways, baseline. */
export async function checkRecipe(path: string, seed: number): Promise<Checkup[]> {
  const checkups: Checkup[] = [];
  const add = (what: string, detail: string, status: Checkup["status"] = "ok") =>
    checkups.push({ about: "recipe", what, status, detail });
  const scratch = mkdtempSync(join(tmpdir(), "lorimer-doctor-"));
  try {
    const recipe = loadRecipe(path);
    add("recipe", `${recipe.recipe.name}, model kind ${recipe.recipe.models.agent.kind}`);
    const drawn = await drawBench(recipe, { seed });
    const { evolve, gate, test } = drawn.splits;
    add(
      "tasks",
      `${evolve.length} evolve, ${gate.length} gate, ${test.length} test, drawn with seed ${recipe.recipe.splits.seed ?? seed}`,
    );
    const copies = nearCopies(drawn.splits);
    add("near-copies between splits", String(copies), copies > 0 ? "warning" : "ok");
    const bench = await openBench(drawn, {
      resourcesDir: join(scratch, "resources"),
      concurrency: 1,
      stockHashes: stockHashes(),
    });
    try {
      await tryEvaluator(bench.evaluator, [...evolve, ...gate]);
      add("evaluator", `${bench.evaluator.kind}: right answers score 1, empty ones and pleas 0`);
      const baseline = loadOn(bench, baselineDir(recipe));
      const findings = await instantiate(baseline, bench);
      add(
        "baseline",
        findings[0]?.message ?? `builds behind the ${bench.fence.level} fence`,
        findings.length > 0 ? "bad" : "ok",
      );
      add("resources", bench.resources.names.join(", ") || "none");
      const { text, enough } = powerOf(bench);
      add("what can be seen", text, enough ? "ok" : "warning");
      for (const doubt of doubtsAbout(bench, drawn.resources)) add("doubtful", doubt, "warning");
      add("prices", `${bench.model.kind} models cost nothing`);
    } finally {
      await bench.fence.close();
    }
  } catch (error) {
    if (!(error instanceof LorimerError)) throw error;
    checkups.push({
      about: "recipe",
      what: "recipe",
      status: "bad",
      detail: messageOf(error),
      ...(error.hint && { hint: error.hint }),
    });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
  return checkups;
}

/** Groups of near-duplicate tasks that lie in more than one split. */
function nearCopies(splits: Record<string, { input: string | Record<string, string> }[]>): number {
  const all = Object.entries(splits).flatMap(([split, tasks]) =>
    tasks.map(({ input }) => ({ split, input })),
  );
  const texts = all.map(({ input }) => (typeof input === "string" ? input : Object.values(input).join("\n")));
  const splitsOf = new Map<number, Set<string>>();
  for (const [index, group] of nearDuplicateGroups(texts).entries())
    splitsOf.set(group, (splitsOf.get(group) ?? new Set()).add(all[index]?.split ?? ""));
  return [...splitsOf.values()].filter((found) => found.size > 1).length;
}
