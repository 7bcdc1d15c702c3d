import { describeThrown } from "./thrown.ts";

/** Timers and stray errors of the rollout at hand. */
export interface Watch {
  /** The tracked globals for authored code. */
  globals: { setTimeout: unknown; clearTimeout: unknown };
  /** From here on stray errors are authored code's, and end nothing. */
  listen(): void;
  /** Lets what is due happen, stops the rest, and returns the faults since the last call. */
  drain(): Promise<string[]>;
}

const maxFaults = 20;
const drainTurns = 3;

/** Must be called before the globals are locked: it keeps the real timers and the process to itself. */
export function createWatch(): Watch {
  const { setTimeout: start, clearTimeout: stop, setImmediate: later, process: host } = globalThis;
  const running = new Map<number, NodeJS.Timeout>();
  let faults: string[] = [];
  let lastId = 0;

  const blame = (what: string, thrown: unknown) => {
    if (faults.length < maxFaults) faults.push(`${what}: ${describeThrown(thrown)}`);
  };
  const setTimeout = (callback: unknown, delay?: unknown, ...values: unknown[]) => {
    if (typeof callback !== "function") throw new TypeError("setTimeout takes a function");
    const id = ++lastId;
    const fire = () => {
      running.delete(id);
      callback(...values);
    };
    running.set(id, start(fire, Number(delay ?? 0)));
    return id;
  };
  const clearTimeout = (id: unknown) => {
    const timer = running.get(id as number);
    if (timer === undefined) return;
    stop(timer);
    running.delete(id as number);
  };

  return {
    globals: { setTimeout, clearTimeout },
    listen() {
      host.on("unhandledRejection", (reason) =>
        blame("a promise was rejected and nobody handled it", reason),
      );
      host.on("uncaughtException", (error) => blame("an error was thrown outside any call", error));
    },
    async drain() {
      for (let turn = 0; turn < drainTurns; turn++) await new Promise((resolve) => later(resolve));
      if (running.size > 0) faults.push(`left ${running.size} timer${running.size > 1 ? "s" : ""} running`);
      for (const timer of running.values()) stop(timer);
      running.clear();
      const found = faults;
      faults = [];
      return found;
    },
  };
}
