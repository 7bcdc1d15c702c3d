import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { FenceLevel } from "./command.ts";
import { WorkerProcess } from "./worker-process.ts";

/** A workspace folder and the worker bound to it; a worker that died is replaced in the same folder. */
export interface Slot {
  readonly workspace: string;
  worker: WorkerProcess;
  /** Code hashes that the worker has compiled. */
  readonly known: Set<string>;
  /** Which generation's code it runs; a blank one has none. */
  key: string | undefined;
  busy: boolean;
  busyMs: number;
  lastUsed: number;
}

interface PoolOptions {
  level: FenceLevel;
  /** Host folder under which each slot has its workspace. */
  base: string;
  /** The worker's bundle. */
  script: string;
  resources: string | undefined;
  maxWorkers: number;
}

interface Waiter {
  key: string;
  resolve(slot: Slot): void;
  reject(error: unknown): void;
}

/** A worker that has worked this long is retired, well before its CPU limit would hit a rollout at random. */
const retireAfterMs = 60_000;

/** Warm workers, each for one rollout at a time and one generation, and a blank one kept ready. */
export class WorkerPool {
  readonly #options: PoolOptions;
  readonly #slots = new Set<Slot>();
  readonly #waiters: Waiter[] = [];
  #spare: Slot | undefined;
  #uses = 0;
  #closed = false;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#spare = this.#create();
  }

  /** A slot of this generation, marked busy, its worker running and its workspace empty. @throws LorimerError `infra` */
  async acquire(key: string): Promise<Slot> {
    const slot = await new Promise<Slot>((resolve, reject) => {
      this.#waiters.push({ key, resolve, reject });
      this.#serve();
    });
    try {
      await slot.worker.ready;
    } catch (error) {
      this.release(slot, { keep: false });
      throw error;
    }
    emptyFolder(slot.workspace);
    return slot;
  }

  /** Gives a slot back. `keep: false` after anything suspicious: its worker is not used again. */
  release(slot: Slot, { keep }: { keep: boolean }): void {
    slot.busy = false;
    slot.lastUsed = ++this.#uses;
    if (!keep || !slot.worker.alive || slot.busyMs > retireAfterMs) this.#drop(slot);
    this.#serve();
  }

  /** A fresh worker in the same workspace, for a rollout whose worker died. @throws LorimerError `infra` */
  async restart(slot: Slot): Promise<void> {
    await slot.worker.kill();
    slot.known.clear();
    slot.worker = this.#start(slot.workspace);
    await slot.worker.ready;
  }

  /** Ends every worker; resolves when all are gone. */
  async close(): Promise<void> {
    this.#closed = true;
    const slots = [...this.#slots, ...(this.#spare === undefined ? [] : [this.#spare])];
    this.#slots.clear();
    this.#spare = undefined;
    for (const waiter of this.#waiters.splice(0)) waiter.reject(new Error("the fence is closed"));
    await Promise.all(slots.map((slot) => slot.worker.kill()));
  }

  #serve(): void {
    for (let index = 0; index < this.#waiters.length; ) {
      const waiter = this.#waiters[index] as Waiter;
      try {
        const slot = this.#take(waiter.key);
        if (slot === undefined) {
          index++;
          continue;
        }
        waiter.resolve(slot);
      } catch (error) {
        waiter.reject(error);
      }
      this.#waiters.splice(index, 1);
    }
  }

  #take(key: string): Slot | undefined {
    if (this.#closed) throw new Error("the fence is closed");
    const idle = [...this.#slots].filter((slot) => !slot.busy);
    const warm = idle.find((slot) => slot.key === key && slot.worker.alive);
    if (warm === undefined && this.#slots.size >= this.#options.maxWorkers) {
      const [oldest] = idle.sort((left, right) => left.lastUsed - right.lastUsed);
      if (oldest === undefined) return undefined;
      this.#drop(oldest);
    }
    const slot = warm ?? this.#takeBlank();
    slot.key = key;
    slot.busy = true;
    return slot;
  }

  #takeBlank(): Slot {
    const slot = this.#spare?.worker.alive ? this.#spare : this.#create();
    this.#slots.add(slot);
    this.#spare = this.#slots.size < this.#options.maxWorkers ? this.#create() : undefined;
    return slot;
  }

  #create(): Slot {
    const workspace = mkdtempSync(join(this.#options.base, "workspace-"));
    const worker = this.#start(workspace);
    return { workspace, worker, known: new Set(), key: undefined, busy: false, busyMs: 0, lastUsed: 0 };
  }

  #start(workspace: string): WorkerProcess {
    const { level, resources, script } = this.#options;
    return new WorkerProcess({ level, workspace, script, ...(resources === undefined ? {} : { resources }) });
  }

  #drop(slot: Slot): void {
    this.#slots.delete(slot);
    slot.worker
      .kill()
      .then(() => rmSync(slot.workspace, { recursive: true, force: true }))
      .catch(() => {}); // it goes with the base folder, at the latest
  }
}

export function emptyFolder(path: string): void {
  for (const name of readdirSync(path)) rmSync(join(path, name), { recursive: true, force: true });
}
