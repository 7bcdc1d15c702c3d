import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { z } from "zod";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { type WorkerPlace, workerCommand } from "./command.ts";
import {
  encodeFrame,
  FrameReader,
  nonceLength,
  parsePayload,
  type WorkerReply,
  type WorkerRequest,
  wireDescriptor,
} from "./protocol.ts";

const startTimeoutMs = 20_000;
const maxStderrBytes = 64 * 1024;
/** Longest wait for a killed group's pipes to close: whoever called goes on after it. */
const killWaitMs = 1000;

const replySchema = z.union([
  z.strictObject({ id: z.number(), value: z.unknown() }),
  z.strictObject({ id: z.number(), fault: z.string() }),
]);
const readySchema = z.strictObject({ permission: z.literal(true), frozen: z.literal(true) });

/** A call that its worker did not survive: it is dead, and authored code is to blame. */
export class WorkerFault extends Error {}

/** What authored code did wrong in a call that its worker survived. */
export class PartFault extends Error {}

interface PendingCall {
  id: number;
  resolve(value: unknown): void;
  reject(error: Error): void;
}

const living = new Set<WorkerProcess>();
process.on("exit", () => {
  for (const worker of living) worker.kill();
});

/** One process behind the fence. It answers one call at a time and is killed, group and all, at the first wrong byte. */
export class WorkerProcess {
  /** Settles once the worker runs with its locks on; rejects with LorimerError `infra`. */
  readonly ready: Promise<void>;
  readonly #child: ChildProcess;
  readonly #wire: Duplex;
  readonly #nonce = randomBytes(nonceLength);
  readonly #frames = new FrameReader(this.#nonce);
  readonly #ended: Promise<string>;
  #stderr = "";
  #pending: PendingCall | undefined;
  #lastId = 0;
  #alive = true;
  /** Why it was killed, when that is known better than by its exit code. */
  #reason: string | undefined;

  constructor(place: WorkerPlace) {
    const command = workerCommand(place);
    this.#child = spawn(command.file, command.arguments, {
      cwd: place.workspace,
      env: { TZ: "UTC" },
      detached: true,
      stdio: ["ignore", "ignore", "pipe", "pipe"],
    });
    this.#wire = this.#child.stdio[wireDescriptor] as Duplex;
    this.#ended = this.#watchEnd();
    this.#watchOutput();
    living.add(this);
    // An idle worker must not keep lorimer running; a call's timer does while it lasts.
    this.#child.unref();
    for (const stream of [this.#wire, this.#child.stderr]) (stream as { unref?(): void }).unref?.();
    this.ready = this.#start();
    this.ready.catch(() => {});
  }

  get alive(): boolean {
    return this.#alive;
  }

  /**
   * One framed call; the caller waits for its end before the next.
   * @throws PartFault, WorkerFault
   */
  async call(request: WorkerRequest, timeoutMs: number): Promise<unknown> {
    if (!this.#alive) throw new WorkerFault(`its worker died: ${await this.#ended}`);
    const id = ++this.#lastId;
    const frame = encodeFrame(this.#nonce, JSON.stringify({ id, request }));
    const answered = new Promise<unknown>((resolve, reject) => {
      this.#pending = { id, resolve, reject };
    });
    const timer = setTimeout(() => {
      // One more turn: the answer may lie in the pipe while this process was busy.
      setImmediate(() => {
        if (this.#pending?.id === id) this.kill(`timeout after ${timeoutMs} ms`);
      });
    }, timeoutMs);
    this.#wire.write(frame);
    try {
      return await answered;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the whole process group; `reason` is what a call under way fails with. Resolves when it is gone. */
  kill(reason?: string): Promise<void> {
    if (this.#alive) {
      this.#reason ??= reason;
      try {
        process.kill(-(this.#child.pid as number), "SIGKILL");
      } catch {
        // never started, or gone already
      }
    }
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, killWaitMs);
      this.#ended.then(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }

  async #start(): Promise<void> {
    try {
      readySchema.parse(await this.call({ op: "hello" }, startTimeoutMs));
    } catch (error) {
      this.kill();
      const reason = error instanceof z.ZodError ? "its locks are not on" : messageOf(error);
      throw new LorimerError("infra", `a fenced worker did not start: ${reason}`, {
        hint: "`lorimer doctor` shows what this machine can fence",
        cause: error,
      });
    }
  }

  #watchOutput(): void {
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      if (this.#stderr.length < maxStderrBytes) this.#stderr += chunk.toString("utf8");
    });
    this.#wire.on("error", () => {}); // a dead worker's; the end of the process says it
    this.#wire.on("data", (chunk: Buffer) => {
      if (!this.#alive) return;
      try {
        for (const text of this.#frames.push(chunk)) this.#settle(replySchema.parse(parsePayload(text)));
      } catch (error) {
        const what = error instanceof z.ZodError ? "it sent a malformed answer" : messageOf(error);
        this.kill(`its worker was stopped: ${what}`);
      }
    });
  }

  #settle(reply: WorkerReply): void {
    const pending = this.#pending;
    if (pending === undefined || pending.id !== reply.id) {
      this.kill("its worker was stopped: it sent an answer to no call");
      return;
    }
    this.#pending = undefined;
    if ("fault" in reply) pending.reject(new PartFault(reply.fault));
    else pending.resolve(reply.value);
  }

  #watchEnd(): Promise<string> {
    return new Promise((resolve) => {
      const end = (how: string) => {
        if (!this.#alive) return;
        this.#alive = false;
        living.delete(this);
        resolve(this.#reason ?? how);
        this.#pending?.reject(new WorkerFault(this.#reason ?? `its worker died: ${how}`));
        this.#pending = undefined;
      };
      this.#child.once("error", (error) => end(messageOf(error)));
      // `close` comes after the last of stderr, `exit` may not.
      this.#child.once("close", (code, signal) => end(this.#howItEnded(code, signal)));
    });
  }

  #howItEnded(code: number | null, signal: NodeJS.Signals | null): string {
    if (/out of memory|Array buffer allocation failed/i.test(this.#stderr)) return "out of memory";
    // Node ends by itself when all that is left is an await.
    if (code === 0) return "it waited for a promise that nothing settles";
    const [firstLine = ""] = this.#stderr.trim().split("\n");
    const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
    return firstLine === "" ? how : `${how}: ${firstLine.slice(0, 300)}`;
  }
}
