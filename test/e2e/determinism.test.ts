import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { gitIn, treesOf } from "./support/git.ts";
import { type Moment, signalAt } from "./support/killing.ts";
import { decisionsOf, ledgerOf, paidTwice, recordsOf } from "./support/ledger.ts";
import { json, succeed, temporaryFolders } from "./support/lorimer.ts";
import { writeTinyRecipe } from "./support/tiny-recipe.ts";

const temporary = temporaryFolders();
let recipe: string;
let reference: { trees: string[]; decisions: unknown[] };

/** A folder of runs, the run that will be started in it, and the arguments that start or resume it. */
function newRun() {
  const runs = join(temporary(), "runs");
  return {
    dir: join(runs, "lending-desk-0001"),
    runs,
    start: ["evolve", recipe, "--runs", runs, "--seed", "7", "--concurrency", "2"],
    resume: ["evolve", "--resume", "--runs", runs],
  };
}

beforeAll(async () => {
  recipe = writeTinyRecipe(temporary());
  const { dir, start } = newRun();
  await succeed([...start, "--concurrency", "1"]);
  reference = { trees: treesOf(dir), decisions: decisionsOf(dir) };
});

test("the small recipe is worth repeating: it takes a prompt, a tool and a processor", () => {
  expect(reference.trees.length).toBeGreaterThanOrEqual(4);
});

test.concurrent("the same seed at another concurrency decides the same and commits the same trees", async () => {
  const { dir, start } = newRun();
  await succeed([...start, "--concurrency", "4"]);
  expect(treesOf(dir)).toEqual(reference.trees);
  expect(decisionsOf(dir)).toEqual(reference.decisions);
});

/** In the order in which a run comes to them. */
const moments: Moment[] = [
  /"type":"run-started"/,
  /"type":"candidate-proposed"[^\n]*"R01-C02"/,
  /"type":"candidate-checked"[^\n]*"R01-C03"/,
  /"type":"screened"/,
  /"type":"verdict"/,
  /"type":"committed"[^\n]*"generation":1/,
  { type: "rollout-scored", count: 550 },
  /"type":"verdict"[^\n]*"R02-/,
  /"type":"committed"[^\n]*"generation":2/,
  /"type":"control"/,
  /"type":"score-batch","which":"champion"/,
];

test.concurrent("killed again and again, and resumed each time, it comes to the same end and pays nothing twice", async () => {
  const { dir, start, resume } = newRun();
  for (const [index, moment] of moments.entries()) {
    const { sent } = await signalAt(index === 0 ? start : resume, { runDir: dir, moment, signal: "SIGKILL" });
    expect(sent, `ended before ${JSON.stringify(moment)} ${moment}`).toBe(true);
  }
  await succeed(resume);
  expect(treesOf(dir)).toEqual(reference.trees);
  expect(decisionsOf(dir)).toEqual(reference.decisions);
  expect(paidTwice(dir)).toEqual([]);
  expect(gitIn(dir, "fsck", "--full", "--strict")).toBe("");
  const numbers = gitIn(dir, "log", "--reverse", "--format=%(trailers:key=Generation,valueonly,separator=)");
  expect(numbers.split("\n").map(Number)).toEqual(reference.trees.map((_, number) => number));
});

test.concurrent("a run that dies in round 3 keeps generation 2; interrupted or with a torn ledger it goes on", async () => {
  const { dir, runs, start, resume } = newRun();
  const roundThree = /"type":"round-started","round":3/;
  await signalAt(start, { runDir: dir, moment: roundThree, signal: "SIGKILL" });
  expect(treesOf(dir)).toEqual(reference.trees.slice(0, 3));
  const status = await json<{ accepted: number; stopped_by: string | null }>(["status", "--runs", runs]);
  expect(status).toMatchObject({ accepted: 2, stopped_by: null });
  expect(await succeed(["show", "gen/0002", "--runs", runs])).toContain("similar_records");

  const observing = { type: "rollout-scored", count: count(dir, "rollout-scored") + 10 };
  const interrupted = await signalAt(resume, { runDir: dir, moment: observing, signal: "SIGINT" });
  expect(interrupted.code).toBe(130);
  expect(interrupted.stderr).toContain("lorimer evolve --resume lending-desk-0001");
  expect(interrupted.stderr).not.toMatch(/\n\s+at /);
  const scored = new Set(recordsOf(dir, "rollout-scored").map(({ key }) => key));
  const lost = recordsOf(dir, "rollout-started").filter(({ key }) => !scored.has(key));
  expect(lost, "what was in flight is kept").toEqual([]);

  const torn = '{"v":1,"seq":99999,"at":"2024-01-01T00:00:00.000Z","type":"rollout-sco';
  appendFileSync(join(dir, "ledger.jsonl"), torn);
  await succeed(resume);
  expect(readFileSync(join(dir, "ledger.torn"), "utf8")).toContain(torn);
  expect(existsSync(join(dir, "lock"))).toBe(false);
  expect(treesOf(dir)).toEqual(reference.trees);
  expect(decisionsOf(dir)).toEqual(reference.decisions);
  expect(paidTwice(dir)).toEqual([]);
});

test.concurrent("Ctrl-C, which ends git and the compiler in the middle of their work too, changes nothing", async () => {
  const { dir, start, resume } = newRun();
  const inTheMiddleOf = [
    /"type":"candidate-proposed"[^\n]*"R01-C01"/, // the compiler's work
    /"type":"verdict"[^\n]*"R01-C02"/, // git's work: the commit
    /"type":"candidate-proposed"[^\n]*"R02-C01"/,
    /"type":"verdict"[^\n]*"R02-C01"/,
  ];
  for (const [index, moment] of inTheMiddleOf.entries()) {
    const args = index === 0 ? start : resume;
    const { code, sent, stderr } = await signalAt(args, { runDir: dir, moment, signal: "Ctrl-C" });
    expect(sent, `ended before ${moment}`).toBe(true);
    expect(code, stderr).toBe(130);
  }
  await succeed(resume);
  expect(treesOf(dir)).toEqual(reference.trees);
  expect(decisionsOf(dir)).toEqual(reference.decisions);
});

function count(dir: string, type: string): number {
  return ledgerOf(dir).filter((record) => record.type === type).length;
}
