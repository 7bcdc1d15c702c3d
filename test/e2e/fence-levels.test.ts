import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { treesOf } from "./support/git.ts";
import { decisionsOf } from "./support/ledger.ts";
import { lorimer, temporaryFolders } from "./support/lorimer.ts";
import { writeTinyRecipe } from "./support/tiny-recipe.ts";

const temporary = temporaryFolders();
let recipe: string;

beforeAll(() => {
  recipe = writeTinyRecipe(temporary(), { controls: { null_every: 0, memoriser: true } });
});

async function evolveAt(level: string) {
  const runs = join(temporary(), "runs");
  const args = ["evolve", recipe, "--runs", runs, "--seed", "7", "--rounds", "2"];
  const ended = await lorimer(args, { env: { LORIMER_FENCE: level } });
  return { level, ...ended, dir: join(runs, "lending-desk-0001") };
}

const levels = ["full", "partial", "weak"];
const unavailable = "LORIMER_FENCE does not work here";

test("every level of the fence that works here gives the same generations, and is named", async (context) => {
  const ran = [];
  for (const { level, code, stdout, stderr, dir } of await Promise.all(levels.map(evolveAt))) {
    if (stderr.includes(unavailable)) continue;
    expect(code, stderr).toBe(0);
    expect(stderr).toContain(`fence ${level}`);
    expect(stdout).toContain(`fence ${level}`);
    ran.push({ level, trees: treesOf(dir), dir });
  }
  const [first, ...others] = ran;
  if (first === undefined || others.length === 0) return context.skip("one level only works here");
  expect(first.trees.length).toBeGreaterThanOrEqual(3);
  for (const { trees } of others) expect(trees).toEqual(first.trees);
  const weak = ran.find(({ level }) => level === "weak");
  const hashed = decisionsOf(weak?.dir ?? first.dir).find((record) =>
    JSON.stringify(record).includes("memoriser, hashed"),
  );
  // Its code is generated: the weakest fence, weaker than the recipe asks for, does not run it.
  if (weak) expect(hashed).toMatchObject({ type: "control", verdict: "not run" });
});
