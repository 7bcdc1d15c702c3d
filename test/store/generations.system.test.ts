import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { generationTag } from "../../src/store/generation-history.ts";
import { type GenerationCommit, type Generations, openGenerations } from "../../src/store/generations.ts";
import type { LedgerRecordOf } from "../../src/store/ledger-records.ts";
import { treeHash } from "../../src/store/tree-hash.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

function filesOf(number: number): Map<string, string> {
  return new Map([
    ["config.yaml", `prompt: Sort the mail, ${number}.\n`],
    ["prompts/system.md", `line one\r\nline ${number}, grüße\n`],
    [".lorimer/candidate.yaml", `lever: prompt\n`],
    ...(number % 2 === 1 ? [[`tools/t${number}.ts`, "export const t = 1;\n"] as const] : []),
  ]);
}

function requestOf(number: number): GenerationCommit {
  return {
    number,
    files: filesOf(number),
    subject: number === 0 ? "Baseline" : `prompt: answer format ${number}`,
    body: "The agent did not say where the mail goes.",
    trailers: {
      ...(number === 0 ? {} : { Candidate: `R0${number}-C01`, "Parent-Generation": String(number - 1) }),
      "Candidate-Hash": `hash-${number}`,
      Effect: "+0.40\n[0.30, 0.50]",
    },
  };
}

async function started(count: number): Promise<{ dir: string; generations: Generations }> {
  const dir = join(temporary(), "generations");
  const generations = await openGenerations(dir);
  for (let number = 0; number < count; number++) await generations.commitGeneration(requestOf(number));
  return { dir, generations };
}

function git(dir: string, ...args: string[]): string {
  const identity = ["-c", "user.name=Kim", "-c", "user.email=kim@example.org", "-c", "commit.gpgsign=false"];
  return execFileSync("git", ["-C", dir, ...identity, ...args], { encoding: "utf8", stdio: "pipe" }).trim();
}

function recordsOf(generations: Generations): LedgerRecordOf<"committed">[] {
  return generations.list().map(({ number, commit, tree }) => ({
    v: 1,
    seq: number + 1,
    at: "",
    type: "committed",
    generation: number,
    candidate: null,
    commit,
    tree,
  }));
}

describe("generations", () => {
  it("are commits with a tag and trailers, checked out on main, and read well", async () => {
    const { dir, generations } = await started(3);
    expect(generations.list().map(({ number }) => number)).toEqual([0, 1, 2]);
    expect(git(dir, "log", "--format=%(trailers:key=Generation,valueonly,separator=%x2C)")).toBe("2\n1\n0");
    expect(git(dir, "log", "-1", "--format=%an <%ae>%n%B", "gen/0001")).toBe(
      [
        "lorimer <lorimer@localhost>",
        "prompt: answer format 1",
        "",
        "The agent did not say where the mail goes.",
        "",
        "Generation: 1",
        "Candidate: R01-C01",
        "Parent-Generation: 0",
        "Candidate-Hash: hash-1",
        "Effect: +0.40 [0.30, 0.50]",
      ].join("\n"),
    );
    expect(generations.list()[1]?.trailers).toMatchObject({ Generation: "1", Effect: "+0.40 [0.30, 0.50]" });
    expect(git(dir, "status", "--porcelain", "--branch")).toBe("## main");
    expect(readFileSync(join(dir, "prompts/system.md"), "utf8")).toBe("line one\r\nline 2, grüße\n");
    expect(existsSync(join(dir, "tools"))).toBe(false);
    expect(git(dir, "fsck", "--strict")).toBe("");
    expect((await openGenerations(dir)).list()).toEqual(generations.list());
  });

  it("of equal runs are equal commits", async () => {
    const [one, other] = [await started(3), await started(3)];
    expect(one.generations.list()).toEqual(other.generations.list());
  });

  it("are named by git as we name them, and come back byte for byte", async () => {
    const name = fc.stringMatching(/^[a-c "ü.-]{1,4}$/).filter((part) => !/^\.{1,2}$/.test(part));
    const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join("/"));
    const tree = fc
      .dictionary(path, fc.string({ unit: "binary" }), { maxKeys: 8 })
      .map((files) => new Map(Object.entries(files)))
      .filter(
        (files) =>
          ![...files.keys()].some((file) => [...files.keys()].some((inner) => inner.startsWith(`${file}/`))),
      );
    const { dir, generations } = await started(0);
    await fc.assert(
      fc.asyncProperty(tree, async (files) => {
        const number = generations.list().length;
        const { commit } = await generations.commitGeneration({ ...requestOf(number), files });
        expect(git(dir, "rev-parse", `${commit}^{tree}`)).toBe(treeHash(files));
        expect(await generations.readTree(number)).toEqual(new Map([...files].sort(byGitOrder)));
      }),
      { numRuns: 25 },
    );
    expect(git(dir, "fsck", "--strict")).toBe("");
    expect(git(dir, "status", "--porcelain")).toBe("");
  });

  it("are committed once, however often they are asked for", async () => {
    const { dir, generations } = await started(2);
    const [again, next] = await Promise.all([
      generations.commitGeneration(requestOf(1)),
      generations.commitGeneration(requestOf(2)),
      generations.commitGeneration(requestOf(2)),
    ]);
    expect([again, next]).toEqual(generations.list().slice(1));
    expect(git(dir, "rev-list", "--count", "main")).toBe("3");
    const other = { ...requestOf(2), trailers: { "Candidate-Hash": "another" } };
    await expect(generations.commitGeneration(other)).rejects.toMatchObject({
      code: "infra",
      message: expect.stringMatching(/generation 2 from candidate hash-2, not from another/),
    });
    await expect(generations.commitGeneration(requestOf(5))).rejects.toThrow(/5 cannot follow generation 2/);
  });

  it("can be cloned, and the clone be read elsewhere", async () => {
    const { dir, generations } = await started(2);
    const clone = join(temporary(), "clone");
    git(dir, "clone", "--quiet", dir, clone);
    const copy = await openGenerations(clone, { readOnly: true });
    expect(copy.list()).toEqual(generations.list());
    expect(await copy.readTree("gen/0001")).toEqual(new Map([...filesOf(1)].sort(byGitOrder)));
  });

  it("are read without writing anything", async () => {
    const { dir } = await started(1);
    writeFileSync(join(dir, ".git/index.lock"), "");
    expect((await openGenerations(dir, { readOnly: true })).list()).toHaveLength(1);
    expect(existsSync(join(dir, ".git/index.lock"))).toBe(true);
    const none = join(temporary(), "none");
    await expect(openGenerations(none, { readOnly: true })).rejects.toMatchObject({ code: "missing" });
    expect(existsSync(none)).toBe(false);
  });

  it("that do not exist are named as missing", async () => {
    const { generations } = await started(2);
    for (const which of [2, -1, "gen/0009", "--all", "main:prompts/nothing", ""]) {
      await expect(generations.readTree(which)).rejects.toMatchObject({ code: "missing" });
    }
  });
});

function byGitOrder([a]: [string, string], [b]: [string, string]): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

describe("rejected candidates", () => {
  it("are kept as refs beside main, once each", async () => {
    const { dir, generations } = await started(2);
    const request = { ...requestOf(1), files: new Map([["config.yaml", "prompt: worse\n"]]), parent: 1 };
    const commit = await generations.recordRejected("R02-C03", request);
    expect(await generations.recordRejected("R02-C03", request)).toBe(commit);
    expect(git(dir, "rev-parse", "refs/candidates/R02-C03", "refs/candidates/R02-C03^")).toBe(
      `${commit}\n${generations.list()[1]?.commit}`,
    );
    expect(await generations.readTree("refs/candidates/R02-C03")).toEqual(request.files);
    expect(git(dir, "status", "--porcelain", "--branch")).toBe("## main");
    expect(await generations.verify(recordsOf(generations))).toEqual({ adopt: [] });
    await expect(generations.recordRejected("../heads/main", request)).rejects.toThrow(
      /is no candidate's id/,
    );
    const other = { ...request, files: new Map([["config.yaml", "prompt: other\n"]]) };
    await expect(generations.recordRejected("R02-C03", other)).rejects.toMatchObject({ code: "infra" });
  });
});

describe("an exported tree", () => {
  it("is read-only, used again, and written anew when it was touched", async () => {
    const { generations } = await started(2);
    const exports = join(temporary(), "exports");
    const paths = await Promise.all(
      [1, 1, "gen/0001", "main"].map((which) => generations.exportTree(which, exports)),
    );
    const path = join(exports, treeHash(filesOf(1)));
    expect(new Set(paths)).toEqual(new Set([path]));
    expect(readdirSync(exports)).toHaveLength(1);
    expect(readFileSync(join(path, "prompts/system.md"), "utf8")).toBe("line one\r\nline 1, grüße\n");
    expect(statSync(join(path, "config.yaml")).mode & 0o777).toBe(0o444);

    const { ino } = statSync(path);
    await generations.exportTree(1, exports);
    expect(statSync(path).ino).toBe(ino);

    writeFileSync(join(path, "extra.txt"), "");
    await generations.exportTree(1, exports);
    expect(existsSync(join(path, "extra.txt"))).toBe(false);
    rmSync(join(path, "config.yaml"));
    await generations.exportTree(1, exports);
    expect(readFileSync(join(path, "config.yaml"), "utf8")).toBe("prompt: Sort the mail, 1.\n");
    expect(readdirSync(exports)).toHaveLength(1);
  });
});

describe("verify", () => {
  it("finds ledger and git agreed, and adopts the commit that the ledger just missed", async () => {
    const { generations } = await started(3);
    const records = recordsOf(generations);
    expect(await generations.verify(records)).toEqual({ adopt: [] });
    expect(await generations.verify(records.slice(0, 2))).toEqual({ adopt: [generations.list()[2]] });
    const fresh = await started(1);
    expect(await fresh.generations.verify([])).toEqual({ adopt: fresh.generations.list() });
    expect(await (await started(0)).generations.verify([])).toEqual({ adopt: [] });
  });

  it.each<[string, (dir: string, records: LedgerRecordOf<"committed">[]) => void, RegExp]>([
    [
      "a branch that was rewound",
      (dir) => git(dir, "reset", "--hard", "gen/0001"),
      /generation 2 as commit \w+, git does not have it/,
    ],
    [
      "a commit that was replaced",
      (dir) => git(dir, "commit", "--amend", "--no-edit"),
      /generation 2 as commit \w+, git has commit \w+/,
    ],
    [
      "a ledger of another run",
      (_dir, records) => Object.assign(records[1] ?? {}, { commit: "f".repeat(40) }),
      /generation 1 as commit ffff\w+, git has/,
    ],
    [
      "a ledger that misses two",
      (_dir, records) => records.splice(1),
      /git has generations 1, 2, the ledger does not/,
    ],
    [
      "a ledger with a gap",
      (_dir, records) => records.splice(1, 1),
      /git has generations 1, the ledger does not/,
    ],
    [
      "a tag that was moved",
      (dir) => git(dir, "tag", "--force", "gen/0001", "main"),
      /tag gen\/0001 is commit \w+, main has/,
    ],
    [
      "a tag that was made up",
      (dir) => git(dir, "tag", "gen/0009"),
      /tag gen\/0009 is commit \w+, main does not have it/,
    ],
    [
      "a detached HEAD",
      (dir) => git(dir, "checkout", "--quiet", "gen/0001"),
      /has \(detached\) checked out, not main/,
    ],
    [
      "another branch",
      (dir) => git(dir, "checkout", "--quiet", "-b", "mine"),
      /has mine checked out, not main/,
    ],
    [
      "a config edited by hand",
      (dir) => writeFileSync(join(dir, "config.yaml"), "prompt: mine\n"),
      /differ from gen\/0002: config\.yaml$/,
    ],
    [
      "a file added by hand",
      (dir) => writeFileSync(join(dir, "my tool.ts"), ""),
      /differ from gen\/0002: my tool\.ts$/,
    ],
    [
      "a file deleted by hand",
      (dir) => rmSync(join(dir, "config.yaml")),
      /differ from gen\/0002: config\.yaml$/,
    ],
    [
      "staged changes",
      (dir) => git(dir, "rm", "--quiet", "--cached", "config.yaml"),
      /differ from gen\/0002: config\.yaml/,
    ],
  ])("refuses %s, naming both sides, and changes nothing", async (_name, trouble, message) => {
    const { dir, generations } = await started(3);
    const records = recordsOf(generations);
    trouble(dir, records);
    const state = () => [
      git(dir, "status", "--porcelain", "--branch"),
      git(dir, "for-each-ref"),
      git(dir, "stash", "list"),
    ];
    const before = state();
    const error = await (await openGenerations(dir)).verify(records).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "infra", exitCode: 3, message: expect.stringMatching(message) });
    expect(error).toHaveProperty("hint", expect.stringMatching(/./));
    expect(state()).toEqual(before);
  });

  it("refuses a commit of a person's on main", async () => {
    const { dir } = await started(2);
    git(dir, "commit", "--quiet", "--allow-empty", "-m", "mine");
    await expect(openGenerations(dir)).rejects.toMatchObject({
      code: "infra",
      message: expect.stringMatching(/is generation none by its trailer, 2 by its place/),
    });
  });

  it("is also minded before each commit: a person's edit is never overwritten", async () => {
    const { dir, generations } = await started(2);
    writeFileSync(join(dir, "config.yaml"), "prompt: mine\n");
    await expect(generations.commitGeneration(requestOf(2))).rejects.toThrow(
      /differ from gen\/0001: config\.yaml/,
    );
    expect(readFileSync(join(dir, "config.yaml"), "utf8")).toBe("prompt: mine\n");
    git(dir, "stash", "--quiet");
    expect((await generations.commitGeneration(requestOf(2))).number).toBe(2);
  });
});

describe("what a kill leaves", () => {
  it.each([".git/index.lock", ".git/HEAD.lock", ".git/refs/heads/main.lock", ".git/packed-refs.lock"])(
    "%s is removed by the run's holder",
    async (lock) => {
      const { dir, generations } = await started(2);
      writeFileSync(join(dir, lock), "");
      const resumed = await openGenerations(dir);
      expect(await resumed.verify(recordsOf(generations))).toEqual({ adopt: [] });
      expect((await resumed.commitGeneration(requestOf(2))).number).toBe(2);
    },
  );

  it("a commit without its tag is adopted and tagged", async () => {
    const { dir, generations } = await started(3);
    const tagObject = git(dir, "rev-parse", "gen/0002");
    git(dir, "tag", "--delete", "gen/0002");
    const resumed = await openGenerations(dir);
    expect(git(dir, "rev-parse", "gen/0002")).toBe(tagObject);
    expect(await resumed.verify(recordsOf(generations).slice(0, 2))).toMatchObject({
      adopt: [{ number: 2 }],
    });
    expect(await resumed.commitGeneration(requestOf(2))).toEqual(generations.list()[2]);
  });

  it("a half checked out work tree is completed, what else stood in it is stashed", async () => {
    const { dir, generations } = await started(3);
    git(dir, "read-tree", "gen/0001");
    writeFileSync(join(dir, "config.yaml"), "prompt: Sort");
    writeFileSync(join(dir, ".git/lorimer-checkout"), "");
    const resumed = await openGenerations(dir);
    expect(await resumed.verify(recordsOf(generations))).toEqual({ adopt: [] });
    expect(readFileSync(join(dir, "config.yaml"), "utf8")).toBe("prompt: Sort the mail, 2.\n");
    expect(git(dir, "show", "stash@{0}:config.yaml")).toBe("prompt: Sort");
    expect(existsSync(join(dir, ".git/lorimer-checkout"))).toBe(false);
  });

  it("a mark without a commit is nothing", async () => {
    const { dir } = await started(0);
    writeFileSync(join(dir, ".git/lorimer-checkout"), "");
    expect((await (await openGenerations(dir)).commitGeneration(requestOf(0))).number).toBe(0);
  });

  it("a damaged repository is an error, also inside of another repository", async () => {
    const project = temporary();
    git(project, "init", "--quiet");
    const dir = join(project, "generations");
    mkdirSync(join(dir, ".git/refs"), { recursive: true });
    await expect(openGenerations(dir)).rejects.toMatchObject({ code: "infra" });
    const taken = join(project, "taken");
    mkdirSync(taken);
    writeFileSync(join(taken, "mine.txt"), "");
    await expect(openGenerations(taken)).rejects.toMatchObject({
      code: "infra",
      message: expect.stringMatching(/cannot create/),
    });
    expect(readdirSync(project).sort()).toEqual([".git", "generations", "taken"]);
  });

  it("tags count from gen/0000", () => {
    expect([0, 7, 12345].map(generationTag)).toEqual(["gen/0000", "gen/0007", "gen/12345"]);
  });
});
