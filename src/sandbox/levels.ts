import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LorimerError, messageOf } from "../lib/errors.ts";
import { bubblewrapHint, type FenceLevel, fenceLevels } from "./command.ts";
import { WorkerProcess } from "./worker-process.ts";

export { type FenceLevel, fenceLevels } from "./command.ts";

export interface LevelProbe {
  works: boolean;
  /** Why not. */
  reason?: string;
}

const probes = new Map<FenceLevel, Promise<LevelProbe>>();

/** Starts a worker on a level, for real; once a process. */
export function probeLevel(level: FenceLevel): Promise<LevelProbe> {
  const known = probes.get(level) ?? startOne(level);
  probes.set(level, known);
  return known;
}

/** Which levels work on this machine. */
export async function probeLevels(): Promise<Record<FenceLevel, LevelProbe>> {
  const [full, partial, weak] = await Promise.all(fenceLevels.map(probeLevel));
  return { full, partial, weak } as Record<FenceLevel, LevelProbe>;
}

/**
 * The strongest level that works here, or the one that LORIMER_FENCE names. It may be weaker than `weakest`: the fence
 * then opens stock parts only.
 * @throws LorimerError `infra` when none works, `usage` for a wrong LORIMER_FENCE
 */
export async function chooseLevel({ weakest }: { weakest: FenceLevel }): Promise<FenceLevel> {
  if (process.platform !== "linux") {
    throw new LorimerError("infra", `the fence needs Linux; this is ${process.platform}`, {
      hint: 'docker run --rm -it -v "$PWD":/app -w /app node:20-bookworm bash',
    });
  }
  const forced = forcedLevel();
  const candidates = forced === undefined ? fenceLevels : [forced];
  const reasons: string[] = [];
  for (const level of candidates) {
    const { works, reason } = await probeLevel(level);
    if (works) return level;
    reasons.push(`${level}: ${reason}`);
  }
  const wanted =
    forced === undefined ? `no fence works here (wanted: ${weakest})` : "LORIMER_FENCE does not work here";
  throw new LorimerError("infra", `${wanted}: ${reasons.join("; ")}`, { hint: bubblewrapHint });
}

/** Whether `level` protects less than `than`. */
export function isWeaker(level: FenceLevel, than: FenceLevel): boolean {
  return fenceLevels.indexOf(level) > fenceLevels.indexOf(than);
}

function forcedLevel(): FenceLevel | undefined {
  const name = process.env["LORIMER_FENCE"];
  if (name === undefined || name === "") return undefined;
  const found = fenceLevels.find((level) => level === name);
  if (found !== undefined) return found;
  throw new LorimerError("usage", `LORIMER_FENCE=${name} is no level`, { hint: fenceLevels.join(", ") });
}

async function startOne(level: FenceLevel): Promise<LevelProbe> {
  const workspace = mkdtempSync(join(realpathSync(tmpdir()), "lorimer-probe-"));
  try {
    const worker = new WorkerProcess({ level, workspace });
    try {
      await worker.ready;
    } finally {
      await worker.kill();
    }
    return { works: true };
  } catch (error) {
    return { works: false, reason: messageOf(error) };
  } finally {
    rmSync(workspace, { recursive: true, force: true });
  }
}
