import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findRunsDir, scratchDirOf } from "../../src/store/paths.ts";
import { createRun, listBrokenRuns, listRuns, openRun } from "../../src/store/run-folder.ts";
import { manifest } from "./manifest.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

describe("findRunsDir", () => {
  it.each(["package.json", ".git"])("lies beside the nearest %s", (mark) => {
    const root = temporary();
    const cwd = join(root, "a/b");
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(root, mark), "");
    expect(findRunsDir({ cwd })).toBe(join(root, "runs"));
    writeFileSync(join(root, "a", mark), "");
    expect(findRunsDir({ cwd })).toBe(join(root, "a/runs"));
    expect(scratchDirOf(findRunsDir({ cwd }))).toBe(join(root, "a/_meta_scratch"));
  });

  it("lies in the working directory outside of a project, or where it is told to", () => {
    const cwd = temporary();
    expect(findRunsDir({ cwd })).toBe(join(cwd, "runs"));
    expect(findRunsDir({ cwd, override: "elsewhere" })).toBe(join(cwd, "elsewhere"));
    expect(findRunsDir({ cwd, override: "/srv/runs" })).toBe("/srv/runs");
  });
});

describe("createRun", () => {
  it("makes numbered folders, and hides a runs folder that it made from git", () => {
    const runs = join(temporary(), "new/runs");
    const ids = ["demo", "demo", "other", "demo"].map((name) => createRun(runs, name, manifest).id);
    expect(ids).toEqual(["demo-0001", "demo-0002", "other-0001", "demo-0003"]);
    expect(readFileSync(join(runs, ".gitignore"), "utf8")).toBe("*\n");
    expect(JSON.parse(readFileSync(join(runs, "demo-0002/run.json"), "utf8"))).toMatchObject({
      v: 1,
      id: "demo-0002",
    });
  });

  it("takes no number that a folder has, whatever lies in it, and adds no ignore file to a folder of the user's", () => {
    const runs = temporary();
    mkdirSync(join(runs, "demo-0007"));
    mkdirSync(join(runs, "demo-two-0042"));
    writeFileSync(join(runs, "demo-0008"), "a file");
    expect(createRun(runs, "demo", manifest).id).toBe("demo-0009");
    expect(existsSync(join(runs, ".gitignore"))).toBe(false);
  });

  it("lets no name that a proposer made up leave the run", () => {
    const run = createRun(temporary(), "demo", manifest);
    expect(run.candidateDir("R03-C01")).toBe(join(run.dir, "candidates/R03-C01"));
    for (const name of ["../../etc/passwd", "", ".", "a/b", "a\0b", "x".repeat(200)]) {
      expect(() => run.rolloutFile(name)).toThrow(/is no rollout of a run/);
    }
  });
});

describe("openRun", () => {
  function runsWith(...created: [id: string, created: string][]): string {
    const runs = temporary();
    for (const [id, time] of created) {
      mkdirSync(join(runs, id));
      writeFileSync(join(runs, id, "run.json"), JSON.stringify({ v: 1, id, created: time, ...manifest }));
    }
    return runs;
  }

  it("finds a run by id, by prefix, by path and as the latest by its time, then by its id", () => {
    const runs = runsWith(
      ["a-0001", "2024-01-03T00:00:00.000Z"],
      ["b-0002", "2024-01-03T00:00:00.000Z"],
      ["b-0003", "2024-01-01T00:00:00.000Z"],
    );
    expect(openRun(runs).id).toBe("b-0002");
    expect(openRun(runs, "latest").id).toBe("b-0002");
    expect(openRun(runs, "a").id).toBe("a-0001");
    expect(openRun(runs, "b-0003").id).toBe("b-0003");
    expect(openRun(runs, "runs/b-0003/").id).toBe("b-0003");
    expect(listRuns(runs).map(({ id }) => id)).toEqual(["b-0003", "a-0001", "b-0002"]);
  });

  it("takes a whole id even where others begin with it", () => {
    const runs = runsWith(["a-0001", "2024-01-01T00:00:00.000Z"], ["a-00010", "2024-01-02T00:00:00.000Z"]);
    expect(openRun(runs, "a-0001").id).toBe("a-0001");
  });

  it("says what there is when the name fits none or several", () => {
    const runs = runsWith(["a-0001", "2024-01-01T00:00:00.000Z"], ["a-0002", "2024-01-02T00:00:00.000Z"]);
    expect(() => openRun(runs, "a-")).toThrow(/run "a-" is ambiguous: a-0001, a-0002/);
    expect(() => openRun(runs, "c")).toThrow(
      expect.objectContaining({ code: "missing", hint: "Runs there: a-0001, a-0002." }),
    );
    for (const empty of [temporary(), join(temporary(), "none")]) {
      expect(() => openRun(empty)).toThrow(
        expect.objectContaining({ code: "missing", hint: "Start one with `lorimer evolve RECIPE`." }),
      );
    }
  });

  it("names what is wrong with a run that cannot be read, and shows the others", () => {
    const runs = runsWith(["a-0001", "2024-01-01T00:00:00.000Z"]);
    for (const [id, text] of [
      ["b-0001", undefined],
      ["c-0001", "{"],
      ["d-0001", JSON.stringify({ v: 2, anything: true })],
      ["e-0001", JSON.stringify({ v: 1 })],
    ] as const) {
      mkdirSync(join(runs, id));
      if (text !== undefined) writeFileSync(join(runs, id, "run.json"), text);
    }
    expect(listRuns(runs).map(({ id }) => id)).toEqual(["a-0001"]);
    expect(openRun(runs).id).toBe("a-0001");
    expect(listBrokenRuns(runs).map(({ id }) => id)).toEqual(["b-0001", "c-0001", "d-0001", "e-0001"]);
    expect(() => openRun(runs, "b")).toThrow(/was stopped before it began/);
    expect(() => openRun(runs, "c")).toThrow(/cannot read/);
    expect(() => openRun(runs, "d")).toThrow(/has format 2; this lorimer reads 1/);
    expect(() => openRun(runs, "e")).toThrow(/is not a run's manifest/);
  });

  it("says so where no folder can be made, also below a folder that takes none", () => {
    const file = join(temporary(), "a-file");
    writeFileSync(file, "");
    for (const dir of ["/proc/none/runs", join(file, "runs")])
      expect(() => createRun(dir, "a", manifest)).toThrow(expect.objectContaining({ code: "infra" }));
  });
});
