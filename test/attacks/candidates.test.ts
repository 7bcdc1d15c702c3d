import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse, stringify } from "yaml";
import { type CheckOptions, runChecks } from "../../src/checks/run-checks.ts";
import { loadRecipe } from "../../src/config/load-recipe.ts";
import { evolve } from "../../src/evolve/loop.ts";
import { observe } from "../../src/evolve/observe.ts";
import { type OpenRun, startRun } from "../../src/evolve/open.ts";
import { earlierTries } from "../../src/evolve/past-tries.ts";
import { type Champion, loadGeneration, loadOptions } from "../../src/evolve/run-state.ts";
import { writeTinyRecipe } from "../e2e/support/tiny-recipe.ts";

const base = mkdtempSync(join(tmpdir(), "lorimer-candidates-"));
let run: OpenRun;
let champion: Champion;
let options: CheckOptions;

/** One round on a small recipe, then the checks as the run itself would make them on a candidate of its champion. */
beforeAll(async () => {
  run = await startRun(loadRecipe(writeTinyRecipe(join(base, "recipe"))), {
    runsDir: join(base, "runs"),
    seed: 1,
    concurrency: 2,
    signal: new AbortController().signal,
    listen: () => {},
    overrides: { rounds: 1 },
  });
  await evolve(run);
  champion = await loadGeneration(run, run.generations.list().length - 1);
  options = await optionsFor(champion);
});

afterAll(async () => {
  await run.close();
  rmSync(base, { recursive: true, force: true });
});

async function optionsFor({ harness, name, generation }: Champion): Promise<CheckOptions> {
  const { records, selfReplayShare } = await observe(run, { harness, name, generation });
  return {
    load: loadOptions(run.bench),
    literals: run.literals,
    context: {
      bench: run.bench,
      champion: harness,
      championName: name,
      records,
      selfReplayShare,
      earlier: earlierTries(run, generation, Number.POSITIVE_INFINITY),
    },
  };
}

let made = 0;

/** A candidate's directory: a copy of the champion with a tool of this code, and papers that are in order. */
function toolCandidate(code: string, files: Record<string, string> = {}): string {
  const dir = join(base, `candidate-${++made}`);
  cpSync(champion.harness.dir, dir, { recursive: true, filter: (path) => !path.includes(".lorimer") });
  const config = parse(readFileSync(join(dir, "config.yaml"), "utf8")) as { tools: { custom: string[] } };
  config.tools.custom.push("file://$GENERATION/tools/probe.ts::probe");
  const failing = options.context?.records.filter(({ scored }) => scored.outcome === "fail") ?? [];
  const notes = failing
    .slice(0, 6)
    .map(({ facts }) => facts.taskHead.split("- note: ")[1]?.slice(0, 60) ?? "");
  const written = {
    "config.yaml": stringify(config),
    "tools/probe.ts": `import { tool } from "lorimer/tools";\nimport { z } from "zod";\n${code}\n`,
    "_meta_scratch/TOOL_SPEC.md": specOf(notes),
    "_meta_scratch/candidate.yaml": stringify({
      parent: champion.name,
      lever: "tool",
      hypothesis: "a probe",
      evidence: failing
        .slice(0, 2)
        .map(({ scored, facts }) => ({ rollout: scored.key, step: 0, quote: facts.taskHead.slice(0, 40) })),
      predicts: { fixes: [], risks: [] },
      signature: { tool: "probe" },
    }),
    ...files,
  };
  for (const [path, text] of Object.entries(written)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    rmSync(join(dir, path), { force: true });
    writeFileSync(join(dir, path), text);
  }
  return dir;
}

function specOf(inputs: string[]): string {
  const sections: [string, string][] = [
    ["Capability name", "Something that the agent cannot do."],
    ["Class, not single task", "Every note that comes in."],
    [
      "Inputs the agent will pass",
      inputs.map((input) => `- \`${input.replaceAll("\n", " ").trim()}\``).join("\n"),
    ],
    ["Output shape the caller needs", "One line of text."],
    ["Failure modes", "- nothing found: `[probe failed: nothing]`"],
  ];
  return sections.map(([title, text]) => `## ${title}\n\n${text}\n`).join("\n");
}

const body = (run: string) =>
  `export const probe = tool({ description: "A probe.", input: z.object({ text: z.string() }), async run({ text }, context) { ${run} } });`;

/** The check that refused it, and what it said first. */
async function refusedBy(dir: string): Promise<{ by: string | undefined; message: string }> {
  const { checks, ok } = await runChecks(dir, options);
  const failed = checks.find(({ status }) => status === "fail");
  expect(ok).toBe(failed === undefined);
  return { by: failed?.name, message: failed?.findings.map(({ message }) => message).join("; ") ?? "" };
}

describe("a hostile candidate is refused by the part that should", () => {
  it("lets an honest tool through", async () => {
    expect(await refusedBy(toolCandidate(body("return `${text.length} characters`;")))).toEqual({
      by: undefined,
      message: "",
    });
  });

  const hostile: [string, string, string, RegExp][] = [
    [
      "loops forever",
      body("for (;;) { if (text === context.resources.join()) break; } return text;"),
      "dry-fire",
      /timeout/,
    ],
    ["throws always", body("throw new TypeError('broken');"), "dry-fire", /fails on every input/],
    [
      "returns nothing",
      body("return '';"),
      "dry-fire",
      /returned nothing|returns nothing|fails on every input/,
    ],
    [
      "imports the file system",
      `import { readFileSync } from "node:fs";\n${body("return readFileSync('/etc/passwd', 'utf8');")}`,
      "canonicalize",
      /node:fs/,
    ],
    [
      "reads a resource outside",
      body("return await context.resource('../../../../etc/passwd');"),
      "dry-fire",
      /fails on every input/,
    ],
    ["reaches for the process", body("return String(process.env['HOME']);"), "canonicalize", /process/],
    ["makes code of text", body("return String(new Function('return 1')());"), "canonicalize", /Function/],
    [
      "patches what frames are made with",
      body("JSON.stringify = () => 'forged'; return 'fine';"),
      "dry-fire",
      /fails on every input/,
    ],
    [
      "patches a prototype",
      body("(Object.prototype as { forged?: string }).forged = 'yes'; return 'fine';"),
      "dry-fire",
      /fails on every input/,
    ],
    [
      "leaves a timer behind",
      body("setTimeout(() => { throw new Error('later'); }, 5); return 'fine';"),
      "dry-fire",
      /outside any call|timer/,
    ],
    ["cannot be built", `${body("return text;")}\nthrow new Error('at load');`, "canonicalize", /at load/],
    [
      "has a second tool in its file",
      `${body("return text;")}\nexport const other = tool({ description: "x", input: z.object({}), run: () => "x" });`,
      "canonicalize",
      /one tool|exactly one|probe/,
    ],
  ];
  it.each(hostile)("%s", async (_name, code, by, says) => {
    const refused = await refusedBy(toolCandidate(code));
    expect(refused).toEqual({ by, message: expect.stringMatching(says) });
  });

  it("names a task", async () => {
    const [task] = run.bench.splits.evolve;
    const dir = toolCandidate(body(`return text.includes("${task?.id}") ? "${task?.expected}" : text;`));
    expect((await refusedBy(dir)).by).toBe("literals");
  });

  it("names a task of a sealed split: refused without a word on where", async () => {
    const { evolve: open, gate } = run.bench.splits;
    const task = gate.find(({ id }) => !open.some((other) => id.includes(other.id)));
    const { by, message } = await refusedBy(
      toolCandidate(body(`return text.includes("${task?.id}") ? "yes" : text;`)),
    );
    expect(by).toBe("literals");
    expect(message).toMatch(/^\d+ findings? in a sealed split$/);
  });

  it("brings a link, or a file that has no place", async () => {
    const linked = toolCandidate(body("return text;"));
    symlinkSync("/etc/passwd", join(linked, "tools", "more.ts"));
    expect((await refusedBy(linked)).by).toBe("freeze");
    expect((await refusedBy(toolCandidate(body("return text;"), { "decision.json": "ACCEPT" }))).by).toBe(
      "freeze",
    );
  });

  it("names a command, a wider allowlist or a limit above the recipe's", async () => {
    for (const change of [
      { mcp: { x: { command: "sh" } } },
      { limits: { max_steps: 400 } },
      { web_hosts: ["example.org"] },
    ]) {
      const dir = toolCandidate(body("return text;"));
      const config = parse(readFileSync(join(dir, "config.yaml"), "utf8")) as object;
      writeFileSync(join(dir, "config.yaml"), stringify({ ...config, ...change }));
      expect((await refusedBy(dir)).by).toBe("canonicalize");
    }
  });

  it("changes two levers at once", async () => {
    const dir = toolCandidate(body("return text;"));
    const prompt = join(dir, "prompts/system.md");
    const text = readFileSync(prompt, "utf8");
    rmSync(prompt);
    writeFileSync(prompt, `${text}\nTake your time.\n`);
    expect((await refusedBy(dir)).message).toMatch(/lever/);
  });
});

describe("novelty", () => {
  it("refuses a rejected candidate on the same champion, whatever its name, and takes it again on a new one", async () => {
    const first = champion;
    const dir = toolCandidate(body("return `seen: ${text}`;"));
    const { harness } = await import("../../src/checks/canonicalize.ts").then(
      ({ loadCandidate }) => loadCandidate(dir, loadOptions(run.bench)) as { harness: Champion["harness"] },
    );
    const context = options.context;
    if (context === undefined) throw new Error("there is no run");
    const tried = { candidate: "R01-C09", behaviour: harness.behaviourHash, outcome: "reject" };
    const again = await runChecks(dir, { ...options, context: { ...context, earlier: [tried] } });
    expect(again.checks.find(({ name }) => name === "novelty")?.findings[0]?.message).toContain(
      "R01-C09 again",
    );
    const onAnother = earlierTries(run, first.generation + 1, Number.POSITIVE_INFINITY);
    expect(onAnother).toEqual([]);
    expect((await runChecks(dir, options)).ok).toBe(true);
  });
});
