import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { z } from "zod";
import { type FenceLevel, workerCommand } from "./command.ts";
import { wireDescriptor } from "./protocol.ts";

/** What raw code in the worker's place managed to do, each seen from outside where that is possible. */
export interface RawFindings {
  readOutside: boolean;
  readThroughLink: boolean;
  wroteOutside: boolean;
  connected: boolean;
  connectedUnix: boolean;
  sawEnvironment: boolean;
  spawned: boolean;
  sawHostProcess: boolean;
  tookMemory: boolean;
}

const timeoutMs = 10_000;
const said = z.strictObject({
  readOutside: z.boolean(),
  readThroughLink: z.boolean(),
  sawEnvironment: z.boolean(),
  spawned: z.boolean(),
  sawHostProcess: z.boolean(),
});

interface Targets {
  canary: string;
  secret: string;
  link: string;
  target: string;
  port: number;
  socket: string;
  pid: number;
}

/** Runs attacks under a level's own command line, without the worker's locks: what the walls alone hold. */
export async function runRawProbe(level: FenceLevel): Promise<RawFindings> {
  const base = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-probe-"));
  const workspace = join(base, "workspace");
  const script = join(base, "probe.cjs");
  const secret = randomBytes(16).toString("hex");
  const tcp = listener();
  const unix = listener();
  try {
    mkdirSync(workspace);
    writeFileSync(join(base, "canary"), secret);
    symlinkSync(join(base, "canary"), join(workspace, "link"));
    const targets: Targets = {
      canary: join(base, "canary"),
      secret,
      link: "link",
      target: join(base, "written"),
      port: await tcp.listen({ port: 0, host: "127.0.0.1" }),
      socket: join(base, "socket"),
      pid: process.pid,
    };
    await unix.listen({ path: targets.socket });
    writeFileSync(script, `(${attack})(${JSON.stringify(targets)})`);
    const lines = await runScript({ level, workspace, script });
    return {
      ...said.parse(JSON.parse(lines[0] ?? "{}")),
      wroteOutside: existsSync(targets.target),
      connected: tcp.hits() > 0,
      connectedUnix: unix.hits() > 0,
      tookMemory: lines.includes("memory"),
    };
  } finally {
    tcp.server.close();
    unix.server.close();
    rmSync(base, { recursive: true, force: true });
  }
}

function listener() {
  let hits = 0;
  const server: Server = createServer((socket) => {
    hits++;
    socket.on("error", () => {}).end();
  });
  const listen = (where: object) =>
    new Promise<number>((resolve, reject) => {
      server.once("error", reject).listen(where, () => {
        const address = server.address();
        resolve(typeof address === "object" && address !== null ? address.port : 0);
      });
    });
  return { server, listen, hits: () => hits };
}

function runScript(place: { level: FenceLevel; workspace: string; script: string }): Promise<string[]> {
  const command = workerCommand(place);
  const child = spawn(command.file, command.arguments, {
    cwd: place.workspace,
    env: { TZ: "UTC" },
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "pipe"],
  });
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => process.kill(-(child.pid as number), "SIGKILL"), timeoutMs);
    (child.stdio[wireDescriptor] as Readable).on("data", (chunk: Buffer) => {
      output += chunk.toString("utf8");
    });
    child.once("error", reject);
    child.once("close", () => {
      clearTimeout(timer);
      resolve(output.split("\n"));
    });
  });
}

/** Runs inside, as text: it must use nothing of this module. */
const attack = String.raw`async (targets) => {
  const fs = require("node:fs");
  const attempt = (action) => { try { return action(); } catch { return undefined; } };
  const connect = (where) => new Promise((resolve) => {
    const socket = attempt(() => require("node:net").connect(where));
    if (socket === undefined) return resolve();
    socket.on("connect", () => { socket.end(); resolve(); });
    socket.on("error", () => resolve());
  });
  const read = (path) => attempt(() => fs.readFileSync(path, "utf8")) === targets.secret;
  const found = {
    readOutside: read(targets.canary),
    readThroughLink: read(targets.link),
    sawEnvironment: Object.keys(process.env).some((name) => !["TZ", "PWD"].includes(name)) ||
      (attempt(() => fs.readFileSync("/proc/" + targets.pid + "/environ", "utf8")) ?? "").includes("PATH="),
    spawned: attempt(() => require("node:child_process").spawnSync("/bin/sh", ["-c", "exit 7"]).status) === 7,
    sawHostProcess: attempt(() => process.kill(targets.pid, 0)) === true,
  };
  attempt(() => fs.writeFileSync(targets.target, "written"));
  await connect({ port: targets.port, host: "127.0.0.1" });
  await connect({ path: targets.socket });
  fs.writeSync(3, JSON.stringify(found) + "\n");
  const held = [];
  for (let taken = 0; taken < 10; taken++) held.push(Buffer.alloc(100 * 2 ** 20, 1));
  fs.writeSync(3, "memory\n");
  process.exit(held.length);
}`;
