import { once } from "node:events";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { freeze } from "../../src/checks/freeze.ts";
import { runChecks } from "../../src/checks/run-checks.ts";
import { writeFiles } from "./papers.ts";

const scratch = mkdtempSync(join(tmpdir(), "lorimer-freeze-"));
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(scratch, "candidate-"));
  writeFiles(dir, { "config.yaml": "prompt: Be good.\n" });
});

const problems = () => freeze(dir).findings.map(({ file, message }) => [file, message]);

test("every file that has a place is read; findings/ lies outside", () => {
  writeFiles(dir, {
    "tools/look-up.ts": "export {};",
    "processors/cap2.ts": "export {};",
    "prompts/system.md": "Be good.\r\n",
    "prompts/other.txt": "x",
    "skills/submit/SKILL.md": "x",
    "_meta_scratch/TASK.md": "x",
    "_meta_scratch/TOOL_SPEC.md": "x",
    "_meta_scratch/candidate.yaml": "noop: x",
    "_meta_scratch/needs.yaml": "[]",
    "findings/CHECKS.md": "x",
    "findings/deep/er.md": "x",
  });
  const { frozen, findings } = freeze(dir);
  expect(findings).toEqual([]);
  expect([...frozen.files.keys()]).toEqual([
    "_meta_scratch/TASK.md",
    "_meta_scratch/TOOL_SPEC.md",
    "_meta_scratch/candidate.yaml",
    "_meta_scratch/needs.yaml",
    "config.yaml",
    "processors/cap2.ts",
    "prompts/other.txt",
    "prompts/system.md",
    "skills/submit/SKILL.md",
    "tools/look-up.ts",
  ]);
  expect(frozen.files.get("prompts/system.md")).toBe("Be good.\r\n");
});

test("the hash is that of names and texts: findings do not move it, one character does", () => {
  const { hash } = freeze(dir).frozen;
  writeFiles(dir, { "findings/CHECKS.md": "later" });
  expect(freeze(dir).frozen.hash).toBe(hash);
  writeFiles(dir, { "config.yaml": "prompt: Be good!\n" });
  expect(freeze(dir).frozen.hash).not.toBe(hash);
});

describe("refused is", () => {
  test.each([
    "notes.md",
    "tools/data.json",
    "tools/Look.ts",
    "tools/look up.ts",
    "tools/deep/look.ts",
    "tools/look.ts.bak",
    "config.yml",
    "skills/SKILL.md",
    "skills/submit/more.md",
    "_meta_scratch/other.md",
    "_meta_scratch/findings/x.md",
    ".git/config",
    ".env",
    "node_modules/zod/index.js",
  ])("%s, which has no place", (path) => {
    writeFiles(dir, { [path]: "x" });
    expect(problems()).toHaveLength(1);
    expect(problems()[0]?.[1]).toBe("has no place in a candidate's directory");
  });

  test("a link, to a file, a folder, nothing, or as findings/", () => {
    writeFiles(scratch, { "outside/tools/x.ts": "secret" });
    symlinkSync(join(scratch, "outside/tools/x.ts"), join(dir, "prompts.md"));
    symlinkSync(join(scratch, "outside/tools"), join(dir, "tools"));
    symlinkSync("/nowhere", join(dir, "processors"));
    symlinkSync(scratch, join(dir, "findings"));
    expect(problems().map(([file]) => file)).toEqual(["findings", "processors", "prompts.md", "tools"]);
    expect(JSON.stringify([...freeze(dir).frozen.files])).not.toContain("secret");
  });

  test("a hard link: what another name may change", () => {
    writeFiles(scratch, { "other-name.ts": "export {};" });
    mkdirSync(join(dir, "tools"));
    linkSync(join(scratch, "other-name.ts"), join(dir, "tools/look.ts"));
    expect(problems()).toEqual([["tools/look.ts", "is a hard link; links are refused"]]);
  });

  test("a socket, or anything else that is no file", async () => {
    mkdirSync(join(dir, "tools"));
    const server = createServer().listen(join(dir, "tools/look.ts"));
    await once(server, "listening");
    expect(problems()).toEqual([["tools/look.ts", "is no plain file"]]);
    server.close();
  });

  test("what is larger than 256 KiB, without being read", () => {
    writeFiles(dir, { "prompts/system.md": "" });
    truncateSync(join(dir, "prompts/system.md"), 2 ** 24);
    expect(problems()).toEqual([["prompts/system.md", `has ${2 ** 24} bytes, at most 262144 are allowed`]]);
  });

  test("what is no text", () => {
    mkdirSync(join(dir, "prompts"));
    writeFileSync(join(dir, "prompts/a.md"), Buffer.from([0x61, 0xff, 0xfe]));
    writeFileSync(join(dir, "prompts/b.md"), "a\0b");
    expect(problems()).toEqual([
      ["prompts/a.md", "is not UTF-8 text"],
      ["prompts/b.md", "is not text: it holds a null character"],
    ]);
  });

  test("more than 64 files", () => {
    writeFiles(
      dir,
      Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`tools/t${index}.ts`, "x"])),
    );
    expect(problems()).toContainEqual([undefined, "65 files, at most 64 are allowed"]);
  });

  test("a directory without config.yaml", () => {
    rmSync(join(dir, "config.yaml"));
    expect(problems()).toEqual([["config.yaml", "there is no config.yaml"]]);
  });

  test("a name that would write on the reader's terminal, shown without its codes", () => {
    writeFiles(dir, { "tools/\u001b[2J\nx.ts": "x" });
    expect(problems()[0]?.[0]).toBe("tools/[2J x.ts");
  });

  test.skipIf(process.getuid?.() === 0)("what cannot be read", () => {
    writeFiles(dir, { "prompts/system.md": "x" });
    chmodSync(join(dir, "prompts/system.md"), 0);
    expect(problems()).toEqual([["prompts/system.md", "cannot be read (EACCES)"]]);
  });

  test("what was changed after its author stopped", async () => {
    const frozenHash = freeze(dir).frozen.hash;
    expect((await runChecks(dir, { load: {}, frozenHash })).ok).toBe(true);
    writeFiles(dir, { "config.yaml": "prompt: Be better.\n" });
    const { ok, checks } = await runChecks(dir, { load: {}, frozenHash });
    expect(ok).toBe(false);
    expect(checks[0]).toMatchObject({
      name: "freeze",
      status: "fail",
      findings: [{ message: "was changed after its author stopped" }],
    });
    expect(checks.slice(1).every(({ status }) => status === "skipped")).toBe(true);
  });
});

test("a folder that is not there is an error of whoever named it", () => {
  expect(() => freeze(join(dir, "nowhere"))).toThrow(expect.objectContaining({ code: "missing" }));
});
