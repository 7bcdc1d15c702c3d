import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { FenceLevel } from "../../src/sandbox/levels.ts";
import { probeFence } from "../../src/sandbox/probes.ts";
import { runRawProbe } from "../../src/sandbox/raw-probe.ts";
import { WorkerFault, WorkerProcess } from "../../src/sandbox/worker-process.ts";
import { levelsHere } from "../sandbox/fences.ts";

const folder = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-walls-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What raw code gets through the walls alone, the worker's locks being gone: as the header of fence.ts says. */
const letThrough: Record<FenceLevel, string[]> = {
  full: [],
  partial: ["connectedUnix", "readThroughLink", "sawHostProcess"],
  weak: ["connected", "connectedUnix", "readThroughLink", "sawHostProcess"],
};

/** A worker of which raw code took the place: it answers the handshake rightly, then does `then`. */
function impostor(level: FenceLevel, then: string): WorkerProcess {
  const script = join(folder, "impostor.cjs");
  writeFileSync(
    script,
    `const fs = require("node:fs");
    let nonce;
    const receive = () => {
      const header = Buffer.alloc(20);
      fs.readSync(3, header, 0, 20, null);
      nonce = header.subarray(4);
      const payload = Buffer.alloc(header.readUInt32BE(0));
      fs.readSync(3, payload, 0, payload.length, null);
      return JSON.parse(payload);
    };
    const frame = (text, length = Buffer.byteLength(text)) => {
      const bytes = Buffer.alloc(20 + Buffer.byteLength(text));
      bytes.writeUInt32BE(length);
      nonce.copy(bytes, 4);
      bytes.write(text, 20);
      return bytes;
    };
    const send = (value) => fs.writeSync(3, frame(JSON.stringify(value)));
    send({ id: receive().id, value: { permission: true, frozen: true } });
    const { id } = receive();
    ${then}
    setTimeout(() => {}, 60_000);`,
  );
  return new WorkerProcess({ level, workspace: folder, script });
}

describe.each(await levelsHere())("the walls of the %s fence", (level) => {
  it(`let raw code through in ${letThrough[level].join(", ") || "nothing"}`, async () => {
    const findings = Object.entries(await runRawProbe(level));
    const through = findings.filter(([, done]) => done).map(([name]) => name);
    expect(through.sort()).toEqual(letThrough[level]);
  });

  it("are described by the doctor's probes", async () => {
    const probes = await probeFence(level);
    const through = probes.filter(({ outcome }) => outcome === "let through");
    expect(probes).toHaveLength(14);
    expect(through).toHaveLength(letThrough[level].length);
  });

  it.each([
    ["garbage", 'fs.writeSync(3, Buffer.from("x".repeat(100)))', /sent a frame of \d+ bytes/],
    ["a frame of 50 MB", "fs.writeSync(3, frame('', 50 * 2 ** 20))", /sent a frame of 52428800 bytes/],
    ["a frame with another nonce", "nonce = Buffer.alloc(16); send({ id, value: 1 })", /sent garbage/],
    ["what is no JSON", "fs.writeSync(3, frame('{'))", /not JSON/],
    ["an answer to another call", "send({ id: id + 1, value: 1 })", /answer to no call/],
    ["an answer with more in it", "send({ id, value: 1, verdict: 'pass' })", /malformed answer/],
    ["no object", "send([id])", /malformed answer/],
    [
      "a value nested too deeply",
      "fs.writeSync(3, frame(JSON.stringify({ id, value: 0 }).replace('0', '['.repeat(1e4) + ']'.repeat(1e4))))",
      /nested too deeply/,
    ],
  ])("kill and blame a worker that sends %s", async (_name, then, message) => {
    const worker = impostor(level, then);
    await worker.ready;
    const error = await worker.call({ op: "end" }, 5000).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(WorkerFault);
    expect(String(error)).toMatch(message);
    expect(worker.alive).toBe(false);
  });

  it("kill a worker that answers twice", async () => {
    const worker = impostor(level, "send({ id, value: 1 }); send({ id, value: 2 })");
    await worker.ready;
    const first = await worker.call({ op: "end" }, 5000).catch(() => "killed first");
    expect([1, "killed first"]).toContain(first);
    await expect(worker.call({ op: "end" }, 5000)).rejects.toThrow(WorkerFault);
  });

  it("let 100 MB on stdout and stderr flow past, and believe none of it", async () => {
    const flood =
      "for (let i = 0; i < 1600; i++) for (const out of [1, 2]) try { fs.writeSync(out, 'x'.repeat(2 ** 16)) } catch {}";
    const worker = impostor(level, `${flood} send({ id, value: "after" });`);
    await worker.ready;
    expect(await worker.call({ op: "end" }, 60_000)).toBe("after");
    await worker.kill();
  });

  it("end the whole group at a timeout, also one that ignores signals", async () => {
    const worker = impostor(
      level,
      "for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(name, () => {}); for (;;) {}",
    );
    await worker.ready;
    await expect(worker.call({ op: "end" }, 300)).rejects.toThrow("timeout after 300 ms");
    expect(worker.alive).toBe(false);
  });
});
