import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { stringify } from "yaml";
import { type Bench, drawBench, openBench } from "../../src/bench/bench.ts";
import { judge } from "../../src/bench/judge.ts";
import { selfReplay } from "../../src/bench/replay.ts";
import { rollOut } from "../../src/bench/rollouts.ts";
import { type CheckOptions, runChecks, type Validation } from "../../src/checks/run-checks.ts";
import type { ChampionRecord, RunContext } from "../../src/checks/subject.ts";
import type { Proposal } from "../../src/config/candidate-schema.ts";
import type { HarnessConfig } from "../../src/config/harness-schema.ts";
import { loadHarness } from "../../src/config/load-harness.ts";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import { stockHashes, stockPart } from "../../src/proposers/mechanic/stock.ts";
import { createFence } from "../../src/sandbox/fence.ts";
import { factsOf } from "../../src/trace/facts.ts";
import { readTrace } from "../../src/trace/steps.ts";
import { libraryDesk } from "../support/library-desk.ts";
import { candidateYaml, writeFiles } from "./papers.ts";

type Config = { [Key in keyof HarnessConfig]?: Partial<HarnessConfig[Key]> | HarnessConfig[Key] };

/** A champion of the library desk with records of its rollouts, and what is offered on it. */
export interface Desk {
  bench: Bench;
  context: RunContext;
  /** Evidence that holds: one step of a failing record that says something. */
  evidence: Proposal["evidence"];
  /** Writes a candidate: the champion's files with these over them, and a config that differs by these keys. */
  candidate(change: { config?: Config; files?: Record<string, string>; papers?: Partial<Proposal> }): string;
  check(dir: string, options?: Partial<CheckOptions>): Promise<Validation>;
}

const files = {
  "prompts/system.md":
    'You help at the desk of a small library.\nEnd with one line of the form "DESK <desk>", where <desk> is one of catalogue, rooms, loans.\n',
  "tools/similar-records.ts": stockPart("tools", "similar-records"),
};
const config = {
  prompt: "file://$GENERATION/prompts/system.md",
  tools: { builtin: ["Read"], custom: ["file://$GENERATION/tools/similar-records.ts::similar_records"] },
  limits: { max_steps: 6 },
};

/** Opens the desk for a test file: bench, champion (answer form and similar records) and its evolve rollouts. */
export async function openDesk(): Promise<Desk> {
  const scratch = mkdtempSync(join(tmpdir(), "lorimer-desk-"));
  const drawn = await drawBench(loadRecipe(libraryDesk), { seed: 3 });
  const opened = await openBench(drawn, {
    resourcesDir: join(scratch, "resources"),
    concurrency: 2,
    stockHashes: stockHashes(),
  });
  // Gives a loop up sooner than a run does.
  const { level } = drawn;
  const resources = opened.resources.dir;
  const fence = await createFence({ level, weakest: level, resources, callTimeoutMs: 2000 });
  const bench = { ...opened, fence };
  afterAll(async () => {
    await opened.fence.close();
    await fence.close();
    rmSync(scratch, { recursive: true, force: true });
  });
  const load = { ceilings: bench.recipe.recipe.ceilings, allowlist: ["*"] };
  const write = (given: Record<string, string>) => {
    const dir = mkdtempSync(join(scratch, "harness-"));
    writeFiles(dir, given);
    return dir;
  };
  const champion = loadHarness(write({ ...files, "config.yaml": stringify(config) }), load);
  const records = await recordsOf(bench, champion);
  const context: RunContext = {
    bench,
    champion,
    championName: "gen/0000",
    records,
    selfReplayShare: 1,
    earlier: [],
  };
  const failing = records.filter(({ scored }) => scored.outcome === "fail");
  const evidence = failing.slice(0, 2).map(({ scored, facts }) => {
    const { step, text } = facts.said.at(-1) ?? { step: 0, text: "" };
    return { rollout: scored.key, step, quote: text };
  });
  return {
    bench,
    context,
    evidence,
    candidate: (change) =>
      write({
        ...files,
        ...change.files,
        ...candidateYaml({ evidence, ...change.papers }),
        "config.yaml": stringify({ ...config, ...change.config }),
      }),
    check: (dir, options) => runChecks(dir, { load, context, ...options }),
  };
}

async function recordsOf(bench: Bench, harness: RunContext["champion"]): Promise<ChampionRecord[]> {
  const records: ChampionRecord[] = [];
  for (const [index, task] of bench.splits.evolve.entries()) {
    const key = `rollout-${String(index).padStart(2, "0")}-of-the-desk`;
    const { result, events } = await rollOut(bench, { harness, task, split: "evolve", seed: index }, key);
    const trace = readTrace(events);
    if (trace === undefined) throw new Error("a rollout without a start");
    const scored = { key, task: task.id, ...(await judge(bench.evaluator, result, task)) };
    records.push({
      scored: scored as ChampionRecord["scored"],
      events,
      facts: factsOf(trace),
      replayable: true,
    });
  }
  const { replayable } = await selfReplay(
    bench,
    records.map(({ events }) => events),
    harness,
  );
  if (replayable.includes(false)) throw new Error("the champion does not replay itself");
  return records;
}

/** `name: status` of each check that ran, and what the first that failed says. */
export function verdictOf({ checks }: Validation): { failed: string | undefined; says: string } {
  const failed = checks.find(({ status }) => status === "fail");
  const says = (failed?.findings ?? []).map(({ kind, message }) => `${kind}: ${message}`).join("\n");
  return { failed: failed?.name, says };
}

/** A processor's source with these members, and the config entry that names it. */
export function processorFile(members: string, { name = "Probe", file = "probe" } = {}) {
  return {
    file: `processors/${file}.ts`,
    text: `import { Processor } from "lorimer/processors";\nimport { z } from "zod";\nexport class ${name} extends Processor<{ size: number }> {\n${members}\n}\n`,
    entry: { _target_: `file://$GENERATION/processors/${file}.ts::${name}` },
  };
}

/** A tool's source whose run has this body. */
export function toolFile(body: string, { name = "probe", input = "{ text: z.string() }" } = {}) {
  return {
    file: "tools/probe.ts",
    text: `import { tool } from "lorimer/tools";\nimport { z } from "zod";\nexport const ${name} = tool({\n  description: "A part under test.",\n  input: z.object(${input}),\n  async run(input, context) { ${body} },\n});\n`,
    reference: `file://$GENERATION/tools/probe.ts::${name}`,
  };
}
