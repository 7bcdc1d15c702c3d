/*
 * The fence round authored code, and what got through each level when it was tried; test/attacks/ tries it again, and
 * `lorimer doctor` does on the machine at hand.
 *
 *                                              full   partial  weak
 *   authored code, as the loader runs it:
 *     eval, Function, process, fetch, imports  -      -        -      gone or refused
 *     forged frames, 50 MB frames, garbage     -      -        -      killed and blamed
 *     endless loop, slow regular expression    -      -        -      killed at the call's timeout
 *     memory, in the heap and outside it       -      -        -      256 and 512 MB (*)
 *     state kept for the next rollout          -      -        -      modules fresh, globals and zod frozen
 *   any code, were those locks to fail:
 *     read or write a file outside             -      -        -
 *     read through a link in the workspace     -      THROUGH  THROUGH
 *     environment, processes, threads, addons  -      -        -
 *     connect to an address                    -      -        THROUGH
 *     connect to a unix socket outside         -      THROUGH  THROUGH
 *     signal other processes of the user       -      THROUGH  THROUGH
 *
 * (*) On weak, limits by prlimit and death with the parent by setpriv hold where util-linux is installed.
 *
 * Open on every level: kernel bugs (no seccomp filter), disk filled by many files, CPU share (a worker may take a core
 * up to its timeout), timing. On partial and weak the text of errors can show host paths.
 */
import { copyFileSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PartLoader } from "../agent/parts.ts";
import type { AuthoredPart } from "../config/harness.ts";
import { LorimerError } from "../lib/errors.ts";
import { bubblewrapHint, builtWorker } from "./command.ts";
import { chooseLevel, type FenceLevel, isWeaker } from "./levels.ts";
import { WorkerPool } from "./pool.ts";
import { openSession } from "./session.ts";

export interface FenceOptions {
  /** Host folder of the recipe's resources, which tools may read. */
  resources?: string | undefined;
  /** Default: the strongest that works here, or the one that LORIMER_FENCE names. */
  level?: FenceLevel;
  /** The recipe's minimum: below it only stock parts are opened. */
  weakest: FenceLevel;
  /** Source hashes of the parts that lorimer ships. */
  stockHashes?: ReadonlySet<string>;
  /** Wall clock of one tool run, hook or load. */
  callTimeoutMs?: number;
  /** Most workers at once; a rollout that finds none free waits. */
  maxWorkers?: number;
}

export interface Fence {
  readonly level: FenceLevel;
  readonly loader: PartLoader;
  /** Ends every worker and removes the workspaces. */
  close(): Promise<void>;
}

/** @throws LorimerError `infra` when no level works on this machine, or not the one that LORIMER_FENCE names. */
export async function createFence(options: FenceOptions): Promise<Fence> {
  const { resources, weakest, stockHashes = new Set(), callTimeoutMs = 5000, maxWorkers = 8 } = options;
  const level = options.level ?? (await chooseLevel({ weakest }));
  const base = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-fence-"));
  const clean = () => rmSync(base, { recursive: true, force: true });
  // A copy: a build in the middle of a long run must not change or remove what its workers are.
  const script = join(base, "worker.cjs");
  copyFileSync(builtWorker(), script);
  process.once("exit", clean);
  const pool = new WorkerPool({
    level,
    base,
    script,
    resources: resources === undefined ? undefined : realpathSync(resources),
    maxWorkers,
  });
  return {
    level,
    loader: {
      async open(parts) {
        if (parts.length === 0)
          return { tools: [], processors: [], workspace: undefined, close: async () => [] };
        if (isWeaker(level, weakest)) refuseUnknown(parts, { level, weakest, stockHashes });
        return openSession(parts, { pool, callTimeoutMs });
      },
    },
    async close() {
      await pool.close();
      process.off("exit", clean);
      clean();
    },
  };
}

interface Minimum {
  level: FenceLevel;
  weakest: FenceLevel;
  stockHashes: ReadonlySet<string>;
}

function refuseUnknown(parts: readonly AuthoredPart[], { level, weakest, stockHashes }: Minimum): void {
  const unknown = parts.find((part) => !stockHashes.has(part.sourceHash));
  if (unknown === undefined) return;
  throw new LorimerError(
    "refused",
    `${unknown.file} is not one of lorimer's own parts, and the recipe wants the ${weakest} fence: here is only ${level}`,
    { hint: bubblewrapHint },
  );
}
