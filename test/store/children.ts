import { spawn } from "node:child_process";
import { once } from "node:events";
import { packageRoot } from "../../src/lib/package-root.ts";

/** A node process on the text of a module. */
export interface NodeChild {
  pid: number;
  output(): string;
  /** Resolves once what it printed has `pattern`; rejects when it ends without. */
  shows(pattern: RegExp): Promise<void>;
  ended(): Promise<void>;
  /** kill -9, waited for; `alone` leaves a git that it started to itself. */
  kill(options?: { alone: boolean }): Promise<void>;
}

/** Starts node on `source`, which finds the built store at `${store}`, as a process group of its own. */
export function startNode(
  source: string,
  options: { prefix?: string[]; env?: Record<string, string> } = {},
): NodeChild {
  const command = [...(options.prefix ?? []), process.execPath, "--input-type=module"];
  const child = spawn(command[0] ?? "", command.slice(1), {
    stdio: ["pipe", "pipe", "inherit"],
    detached: true,
    env: { ...process.env, ...options.env },
  });
  const pid = child.pid ?? 0;
  const exited = once(child, "exit");
  const closed = once(child, "close");
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (chunk) => {
    output += chunk;
  });
  child.stdin.end(`const store = ${JSON.stringify(`${packageRoot}dist/store`)};\n${source}`);
  return {
    pid,
    output: () => output,
    async shows(pattern) {
      while (!pattern.test(output)) {
        const ended = closed.then(() => Promise.reject(new Error(`ended without ${pattern}: ${output}`)));
        await Promise.race([once(child.stdout, "data"), ended]);
      }
    },
    async ended() {
      await closed;
    },
    async kill({ alone } = { alone: false }) {
      if (child.exitCode === null && child.signalCode === null) process.kill(alone ? pid : -pid, "SIGKILL");
      await exited;
    },
  };
}

/** Runs it to its end and gives back what it printed. */
export async function runNode(...args: Parameters<typeof startNode>): Promise<string> {
  const child = startNode(...args);
  await child.ended();
  return child.output().trim();
}
