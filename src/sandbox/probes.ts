import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuthoredPart } from "../config/harness.ts";
import { messageOf } from "../lib/errors.ts";
import { sha256 } from "../lib/hash.ts";
import type { FenceLevel } from "./command.ts";
import { createFence } from "./fence.ts";
import { type RawFindings, runRawProbe } from "./raw-probe.ts";
import { WorkerProcess } from "./worker-process.ts";

export interface FenceProbe {
  probe: string;
  outcome: "contained" | "let through";
  detail: string;
}

/**
 * Attacks a level for real, in a few seconds: authored code as it would run, and raw code in the worker's place, which
 * shows what holds should the worker's own locks fail.
 */
export async function probeFence(level: FenceLevel): Promise<FenceProbe[]> {
  return [
    ...(await probeAuthored(level)),
    await probeForgery(level),
    ...describeRaw(await runRawProbe(level)),
  ];
}

const rawProbes: readonly [keyof RawFindings, string][] = [
  ["readOutside", "read a file outside"],
  ["readThroughLink", "read a file outside through a link in the workspace"],
  ["wroteOutside", "write a file outside"],
  ["connected", "connect to a port of this machine"],
  ["connectedUnix", "connect to a unix socket of this machine"],
  ["sawEnvironment", "read the environment"],
  ["spawned", "start a process"],
  ["sawHostProcess", "signal a process of the user's"],
  ["tookMemory", "take a gigabyte outside the heap"],
];

function describeRaw(findings: RawFindings): FenceProbe[] {
  return rawProbes.map(([key, probe]) =>
    findings[key]
      ? { probe, outcome: "let through", detail: "raw code in the worker's place did it" }
      : { probe, outcome: "contained", detail: "raw code in the worker's place could not" },
  );
}

interface AuthoredAttack {
  probe: string;
  body: string;
  /** Whether the tool's answer shows that the attack got nowhere. */
  holds(result: string): boolean;
}

const authoredAttacks: readonly AuthoredAttack[] = [
  {
    probe: "code from text (eval, Function)",
    body: `[].constructor.constructor("return process")().pid`,
    holds: (result) => result.startsWith("[attack failed"),
  },
  {
    probe: "patch what the worker uses (JSON, Buffer, Promise)",
    body: `(() => {
      for (const patch of [() => { JSON.stringify = () => '"forged"'; }, () => { globalThis.JSON = null; },
        () => { Buffer.prototype.write = () => 0; }, () => { Promise.prototype.then = null; }]) {
        try { patch(); return "patched"; } catch {}
      }
      return "locked";
    })()`,
    holds: (result) => result === "locked",
  },
  {
    probe: "loop for ever",
    body: "(() => { for (;;) {} })()",
    holds: (result) => result.includes("timeout after"),
  },
  {
    probe: "fill the heap",
    body: "(() => { const all = []; for (;;) all.push(new Array(1e6).fill(all.length)); })()",
    holds: (result) => /its worker died|timeout after/.test(result),
  },
];

async function probeAuthored(level: FenceLevel): Promise<FenceProbe[]> {
  const fence = await createFence({ level, weakest: "weak", maxWorkers: 1, callTimeoutMs: 1000 });
  try {
    const parts = await fence.loader.open([attackTool()]);
    const [tool] = parts.tools;
    const probes: FenceProbe[] = [];
    for (const [index, { probe, holds }] of authoredAttacks.entries()) {
      const { result } = (await tool?.run({ index })) ?? { result: "" };
      probes.push({
        probe,
        outcome: holds(result) ? "contained" : "let through",
        detail: result.slice(0, 200),
      });
    }
    await parts.close();
    return probes;
  } finally {
    await fence.close();
  }
}

function attackTool(): AuthoredPart {
  const code = `"use strict";
    const { tool } = require("lorimer/tools");
    const { z } = require("zod");
    const attacks = [${authoredAttacks.map(({ body }) => `() => ${body}`).join(",\n")}];
    exports.attack = tool({
      description: "Attacks the fence.",
      input: z.object({ index: z.number() }),
      run: ({ index }) => String(attacks[index]()),
    });`;
  const hash = sha256(code);
  const file = "tools/attack.ts";
  return { kind: "tool", file, exportName: "attack", code, codeHash: hash, sourceHash: hash, options: {} };
}

/** A worker that sends a frame of its own making. */
async function probeForgery(level: FenceLevel): Promise<FenceProbe> {
  const probe = "forge a frame";
  const base = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-probe-"));
  const script = join(base, "forge.cjs");
  const payload = JSON.stringify({ id: 1, value: { permission: true, frozen: true } });
  writeFileSync(
    script,
    `const text = ${JSON.stringify(payload)};
    const frame = Buffer.alloc(20 + text.length);
    frame.writeUInt32BE(text.length);
    frame.write(text, 20);
    require("node:fs").writeSync(3, frame);
    setTimeout(() => {}, 5000);`,
  );
  try {
    const worker = new WorkerProcess({ level, workspace: base, script });
    await worker.ready;
    await worker.kill();
    return { probe, outcome: "let through", detail: "its answer was believed" };
  } catch (error) {
    return { probe, outcome: "contained", detail: messageOf(error) };
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
}
