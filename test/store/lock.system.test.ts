import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acquireLock, lockHolder } from "../../src/store/lock.ts";
import { runNode, startNode } from "./children.ts";
import { temporaryFolders } from "./temporary.ts";

const temporary = temporaryFolders();

const hold = (dir: string) => `
const { acquireLock } = await import(store + "/lock.js");
acquireLock(${JSON.stringify(dir)});
console.log("held");
setInterval(() => {}, 1000);`;

/** Waits for a common moment, then tries once and holds what it got until it is killed. */
const race = (dir: string) => `
const { acquireLock } = await import(store + "/lock.js");
const { existsSync } = await import("node:fs");
console.log("ready");
while (!existsSync(${JSON.stringify(`${dir}/go`)})) {}
try { acquireLock(${JSON.stringify(dir)}); console.log("won"); }
catch (error) { console.log(error.code, error.message); }
setInterval(() => {}, 1000);`;

describe("the run's lock", () => {
  it("keeps a second process out, naming the first, until that is gone", async () => {
    const dir = temporary();
    const child = startNode(hold(dir));
    await child.shows(/held/);
    expect(lockHolder(dir)?.pid).toBe(child.pid);
    expect(() => acquireLock(dir)).toThrow(
      expect.objectContaining({
        code: "locked",
        exitCode: 3,
        message: `${dir} is in use by process ${child.pid}`,
        hint: expect.stringContaining(`kill -INT ${child.pid}`),
      }),
    );
    await child.kill();
    expect(lockHolder(dir)).toBeUndefined();
    const lock = acquireLock(dir);
    expect(lockHolder(dir)?.pid).toBe(process.pid);
    expect(() => acquireLock(dir)).toThrow(/in use by process/);
    lock.release();
    lock.release();
    expect(lockHolder(dir)).toBeUndefined();
    expect(readdirSync(dir)).toEqual([]);
  });

  it("is that of a process, not of a pid that is used again, nor of another boot, nor of garbage", () => {
    const dir = temporary();
    acquireLock(dir);
    const mine = JSON.parse(readFileSync(join(dir, "lock"), "utf8"));
    for (const stale of [
      JSON.stringify({ ...mine, start: "1" }),
      JSON.stringify({ ...mine, boot_id: "another" }),
      JSON.stringify({ ...mine, more: 1 }),
      "",
      '{"pid":',
    ]) {
      writeFileSync(join(dir, "lock"), stale);
      expect(lockHolder(dir)).toBeUndefined();
      acquireLock(dir).release();
    }
    expect(readdirSync(dir)).toEqual([]);
  });

  it("of a dead process goes to exactly one of several that want it at once", async () => {
    const dir = temporary();
    writeFileSync(join(dir, "lock"), JSON.stringify({ pid: 1, start: "0", boot_id: "gone" }));
    const children = Array.from({ length: 6 }, () => startNode(race(dir)));
    await Promise.all(children.map((child) => child.shows(/ready/)));
    writeFileSync(join(dir, "go"), "");
    await Promise.all(children.map((child) => child.shows(/won|locked.*\n/)));
    const outputs = children.map((child) => child.output());
    await Promise.all(children.map((child) => child.kill()));
    const won = outputs.filter((output) => output.includes("won"));
    const lost = outputs.filter((output) => /locked .* is in use by process \d+\n/.test(output));
    expect([won.length, lost.length]).toEqual([1, 5]);
  });

  it("of a process that died while it took over another's is taken too", async () => {
    const dir = temporary();
    const stale = JSON.stringify({ pid: 1, start: "0", boot_id: "gone" });
    writeFileSync(join(dir, "lock"), stale);
    const { createHash } = await import("node:crypto");
    const claim = `lock.${createHash("sha256").update(stale).digest("hex").slice(0, 12)}`;
    writeFileSync(join(dir, claim), JSON.stringify({ pid: 2, start: "0", boot_id: "gone" }));
    acquireLock(dir).release();
    expect(readdirSync(dir)).toEqual([]);
  });

  it("cannot be had in a folder that cannot be written", async () => {
    const output = await runNode(`
      const { acquireLock } = await import(store + "/lock.js");
      try { acquireLock("/proc/self"); } catch (error) { console.log(error.code, error.message); }`);
    expect(output).toMatch(/^infra cannot write \/proc\/self\/lock/);
  });
});
