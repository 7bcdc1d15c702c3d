import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openGenerations } from "../../src/store/generations.ts";
import { runNode, startNode } from "./children.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

/** Commits what is missing of `count` generations, each after a rejected candidate, and says what it has done. */
const evolve = (dir: string, count: number) => `
const { openGenerations } = await import(store + "/generations.js");
const { writeSync } = await import("node:fs");
const say = (line) => writeSync(1, line + "\\n");
try {
  const generations = await openGenerations(${JSON.stringify(dir)});
  await generations.verify(generations.list().map((one) => ({ ...one, generation: one.number })));
  say("opened " + generations.list().length);
  for (let number = 0; number < ${count}; number++) {
    const files = new Map([["config.yaml", "prompt: " + number + "\\r\\n"], ["tools/a.ts", "a\\n".repeat(number * 500)]]);
    const message = { subject: "Generation " + number, trailers: { "Candidate-Hash": "h" + number } };
    await generations.commitGeneration({ number, files, ...message });
    say("committed " + number);
    await generations.recordRejected("R0" + number + "-C01", { files, parent: number, ...message });
    say("rejected " + number);
  }
  say("end " + generations.list().at(-1).commit);
} catch (error) { say([error.code, error.message, error.hint].join(" | ")); }`;

function git(dir: string, ...args: string[]): string {
  return execFileSync("git", ["-C", dir, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
}

async function uninterrupted(count: number): Promise<string> {
  const output = await runNode(evolve(join(temporary(), "generations"), count));
  expect(output).toMatch(/end [0-9a-f]{40}$/);
  return output.split("\n").at(-1) ?? "";
}

describe("a machine's git settings", () => {
  it("do not reach the generations, and the person's own repository around them is not touched", async () => {
    const home = temporary();
    const hooks = join(home, "hooks");
    mkdirSync(hooks);
    for (const hook of [
      "pre-commit",
      "commit-msg",
      "post-checkout",
      "reference-transaction",
      "post-index-change",
    ]) {
      writeFileSync(join(hooks, hook), `#!/bin/sh\ntouch ${home}/hook-ran\nexit 1\n`);
      chmodSync(join(hooks, hook), 0o755);
    }
    writeFileSync(join(home, "ignore"), "*\n");
    writeFileSync(join(home, "attributes"), "* text eol=crlf filter=shout ident\n");
    writeFileSync(
      join(home, ".gitconfig"),
      `[core]
hooksPath = ${hooks}
autocrlf = true
safecrlf = true
excludesFile = ${home}/ignore
attributesFile = ${home}/attributes
fsmonitor = ${hooks}/pre-commit
[init]
defaultBranch = trunk
templateDir = ${hooks}
[commit]
gpgsign = true
template = ${home}/nothing
[tag]
gpgsign = true
[gpg]
program = false
[filter "shout"]
clean = tr a-z A-Z
smudge = tr a-z A-Z
required = true
[user]
useConfigOnly = true
[log]
showSignature = true
[i18n]
commitEncoding = latin1
logOutputEncoding = latin1
[status]
showUntrackedFiles = no
`,
    );
    const project = temporary();
    git(project, "init", "--quiet", "--initial-branch=work");
    writeFileSync(join(project, "staged.txt"), "mine\n");
    git(project, "add", "staged.txt");
    const state = () => [
      git(project, "status", "--porcelain", "--branch"),
      readFileSync(join(project, ".git/config"), "utf8"),
    ];
    writeFileSync(join(project, ".gitignore"), "runs\n");
    const before = state();

    const dir = join(project, "runs/demo-0001/generations");
    mkdirSync(join(dir, ".."), { recursive: true });
    const env = {
      HOME: home,
      XDG_CONFIG_HOME: home,
      GIT_DIR: join(project, ".git"),
      GIT_WORK_TREE: project,
      GIT_INDEX_FILE: join(project, ".git/index"),
      GIT_OBJECT_DIRECTORY: join(project, ".git/objects"),
      GIT_AUTHOR_DATE: "2001-01-01T00:00:00Z",
      GIT_CONFIG_COUNT: "1",
      GIT_CONFIG_KEY_0: "core.bare",
      GIT_CONFIG_VALUE_0: "true",
      LC_ALL: "C",
    };
    const output = await runNode(evolve(dir, 3), { env });
    expect(output.split("\n").at(-1)).toBe(await uninterrupted(3));
    // Once more with what is there, as a resumed run does.
    expect((await runNode(evolve(dir, 3), { env })).split("\n").at(-1)).toBe(output.split("\n").at(-1));
    expect(state()).toEqual(before);
    expect(existsSync(join(home, "hook-ran"))).toBe(false);
    expect(readFileSync(join(dir, "config.yaml"), "utf8")).toBe("prompt: 2\r\n");
  });

  it("that lack git are named with what to install", async () => {
    const output = await runNode(evolve(join(temporary(), "generations"), 1), { env: { PATH: "/nowhere" } });
    expect(output).toBe(
      "infra | git is not installed | Install it: `apt-get update && apt-get install -y git`.",
    );
  });
});

describe("kill -9 of a run that commits", () => {
  const count = 3;
  const moments = Array.from({ length: count }, (_, number) => [
    `opened`,
    `committed ${number}`,
    `rejected ${number}`,
  ]).flat();

  it.each([
    ["with its git", false],
    ["alone, its git living on", true],
  ])("%s, at any moment, then resumed, gives the same commits", async (_name, alone) => {
    const expected = await uninterrupted(count);
    const dir = join(temporary(), "generations");
    for (const moment of moments) {
      const child = startNode(evolve(dir, count));
      await child.shows(new RegExp(`${moment}|\\| `));
      await child.kill({ alone });
      expect(child.output()).not.toContain(" | ");
      if (moment.startsWith("rejected")) rmSync(dir, { recursive: true, force: true });
    }
    const output = await runNode(evolve(dir, count));
    expect(output.split("\n").at(-1)).toBe(expected);
    expect(git(dir, "fsck", "--strict", "--connectivity-only")).toBe("");
    expect(git(dir, "log", "--format=%(trailers:key=Generation,valueonly,separator=%x2C)")).toBe("2\n1\n0");
    expect(git(dir, "status", "--porcelain", "--branch")).toBe("## main");
    expect((await openGenerations(dir, { readOnly: true })).list()).toHaveLength(count);
  });
});
