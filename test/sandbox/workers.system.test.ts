import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { describe, expect, it } from "vitest";
import { packageRoot } from "../../src/lib/package-root.ts";
import { createFence } from "../../src/sandbox/fence.ts";
import { toolOf } from "../support/parts.ts";
import { fenceOn, levelsHere, runOnce, toolIn } from "./fences.ts";

/** Resident memory in bytes of the fenced workers under this process. */
function workers(): { pid: number; bytes: number }[] {
  return descendants(process.pid)
    .map((pid) => ({ pid, status: readStatus(pid) }))
    .flatMap(({ pid, status }) => (status?.name === "node" ? [{ pid, bytes: status.bytes }] : []));
}

function descendants(root: number): number[] {
  const all = readdirSync("/proc").map(Number).filter(Number.isInteger);
  const parents = new Map(all.map((pid) => [pid, readStatus(pid)?.parent]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && (parents.get(pid) === root || isBelow(parents.get(pid)));
  return all.filter(isBelow);
}

function isRunning(pid: number): boolean {
  const status = readStatus(pid);
  return status !== undefined && status.state !== "Z";
}

function readStatus(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/status`, "utf8");
    const field = (name: string) => text.match(new RegExp(`^${name}:\\s+(\\S+)`, "m"))?.[1] ?? "0";
    return {
      name: field("Name"),
      state: field("State"),
      parent: Number(field("PPid")),
      bytes: Number(field("VmRSS")) * 1024,
    };
  } catch {
    return undefined; // gone meanwhile
  }
}

describe.each(await levelsHere())("workers on the %s fence", async (level) => {
  const fence = await fenceOn(level);

  it("need none for a harness without authored parts", async () => {
    const parts = await fence.loader.open([]);
    expect(parts).toMatchObject({ tools: [], processors: [], workspace: undefined });
    expect(await parts.close()).toEqual([]);
  });

  it("run the new version of a rewritten tool", async () => {
    for (const version of ["v1", "v2", "v1"]) {
      expect((await runOnce(fence, toolOf(`return "${version}"`))).result).toBe(version);
    }
  });

  it("serve two rollouts at once, each with its own modules and workspace", async () => {
    const part = toolOf(
      `seen.push(input.text); await context.workspace.write(input.text, ""); return [seen, await context.workspace.list()]`,
      { input: "{ text: z.string() }", top: "const seen = [];" },
    );
    const [one, two] = await Promise.all([fence.loader.open([part]), fence.loader.open([part])]);
    expect(one.workspace).not.toBe(two.workspace);
    const results = await Promise.all([toolIn(one).run({ text: "a" }), toolIn(two).run({ text: "b" })]);
    expect(results.map(({ result }) => result)).toEqual(['[["a"],["a"]]', '[["b"],["b"]]']);
    await Promise.all([one.close(), two.close()]);
  });

  it("make a rollout wait where all are busy", async () => {
    const part = toolOf("return 'done'");
    const results = await Promise.all(Array.from({ length: 6 }, () => runOnce(fence, part)));
    expect(results.map(({ result }) => result)).toEqual(Array(6).fill("done"));
  });

  it("answer calls made at the same time in order", async () => {
    const parts = await fence.loader.open([
      toolOf("await new Promise((resolve) => setTimeout(resolve, input.wait)); return order += input.name", {
        input: "{ name: z.string(), wait: z.number() }",
        top: "let order = '';",
      }),
    ]);
    const run = (name: string, wait: number) => toolIn(parts).run({ name, wait });
    const results = await Promise.all([run("a", 20), run("b", 0)]);
    expect(results.map(({ result }) => result)).toEqual(["a", "ab"]);
    expect(await parts.close()).toEqual([]);
  });

  it("go on after a death: the next call has a fresh worker, the same workspace, and close says so", async () => {
    const slow = await fenceOn(level, { callTimeoutMs: 1000 });
    const parts = await slow.loader.open([
      toolOf(
        `if (input.hang) for (;;) {}
         await context.workspace.write("f" + ++count, ""); return [count, await context.workspace.list()]`,
        { input: "{ hang: z.boolean() }", top: "let count = 0;" },
      ),
    ]);
    await toolIn(parts).run({ hang: false });
    await toolIn(parts).run({ hang: false });
    expect(await toolIn(parts).run({ hang: true })).toEqual({
      result: "[probe failed: timeout after 1000 ms]",
      isError: true,
    });
    expect((await toolIn(parts).run({ hang: false })).result).toBe('[1,["f1","f2"]]');
    expect(await parts.close()).toEqual(["probe: timeout after 1000 ms"]);
  });

  it("hold memory over 1,000 reloads", async () => {
    const part = toolOf("return String(table.length)", {
      top: "const table = Array.from({ length: 20_000 }, () => ({}));",
    });
    const largest = () => Math.max(...workers().map(({ bytes }) => bytes));
    for (let rollout = 0; rollout < 100; rollout++) await runOnce(fence, part);
    const before = largest();
    for (let rollout = 0; rollout < 1000; rollout++) await runOnce(fence, part);
    expect(largest() - before).toBeLessThan(100 * 2 ** 20);
  });

  it("are gone, with their folders, once the fence is closed", async () => {
    const before = new Set(workers().map(({ pid }) => pid));
    const own = await createFence({ level, weakest: "weak" });
    const parts = await own.loader.open([toolOf("return 'x'")]);
    const base = dirname(parts.workspace ?? "");
    expect(existsSync(base)).toBe(true);
    await own.close();
    expect(workers().filter(({ pid }) => !before.has(pid))).toEqual([]);
    expect(existsSync(base)).toBe(false);
  });
});

describe("a process with a fence", () => {
  const start = `
    const { createFence } = await import(${JSON.stringify(`${packageRoot}dist/sandbox/fence.js`)});
    const fence = await createFence({ weakest: "weak" });
    const code = 'const { tool } = require("lorimer/tools"); const { z } = require("zod"); exports.spin = tool(' +
      '{ description: "d", input: z.object({}), run() { for (;;) {} } })';
    const part = { kind: "tool", file: "tools/spin.ts", exportName: "spin", code, codeHash: "1", sourceHash: "1", options: {} };
    const parts = await fence.loader.open([part]);
    console.log(parts.workspace);`;
  const startNode = (script: string) =>
    spawn(process.execPath, ["--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });

  it("ends by itself without closing it, and leaves nothing", async () => {
    const child = startNode(start);
    let workspace = "";
    child.stdout.on("data", (chunk) => {
      workspace += chunk;
    });
    expect(await once(child, "close")).toEqual([0, null]);
    expect(workspace).toContain("workspace-");
    expect(existsSync(dirname(workspace.trim()))).toBe(false);
  });

  it("takes its workers along when it is killed in the middle of a call", async () => {
    const child = startNode(`${start} await parts.tools[0].run({});`);
    await Promise.race([once(child.stdout, "data"), once(child, "close")]);
    const ours = descendants(child.pid as number);
    expect(ours.length).toBeGreaterThan(0);
    child.kill("SIGKILL");
    await once(child, "close");
    await expect.poll(() => ours.filter(isRunning), { timeout: 10_000 }).toEqual([]);
  });
});
