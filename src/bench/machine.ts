import { execFileSync } from "node:child_process";
import { messageOf } from "../lib/errors.ts";
import { fenceLevels, probeLevels } from "../sandbox/levels.ts";
import { probeFence } from "../sandbox/probes.ts";

/** One thing that was looked at, really tried where it can be. */
export interface Checkup {
  about: "machine" | "recipe";
  what: string;
  status: "ok" | "warning" | "bad";
  detail: string;
  hint?: string;
}

/** What this machine has: Node, git, and what each level of the fence stops when it is attacked here. */
export async function checkMachine(): Promise<Checkup[]> {
  return [checkNode(), checkGit(), ...(await checkFence())];
}

function checkNode(): Checkup {
  const [major = 0] = process.versions.node.split(".").map(Number);
  const base = { about: "machine", what: "node", detail: process.version } as const;
  return major >= 20
    ? { ...base, status: "ok" }
    : { ...base, status: "bad", hint: "Install Node 20.19 or newer." };
}

function checkGit(): Checkup {
  const base = { about: "machine", what: "git" } as const;
  try {
    const detail = execFileSync("git", ["--version"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
    return { ...base, status: "ok", detail };
  } catch (error) {
    return {
      ...base,
      status: "bad",
      detail: messageOf(error),
      hint: "apt-get update && apt-get install -y git",
    };
  }
}

async function checkFence(): Promise<Checkup[]> {
  const levels = await probeLevels();
  const working = fenceLevels.filter((level) => levels[level].works);
  const strongest = working[0];
  const checkups: Checkup[] = [];
  for (const level of fenceLevels) {
    const { works, reason } = levels[level];
    const what = `fence ${level}`;
    if (!works) {
      const hint = level === "full" ? { hint: "apt-get update && apt-get install -y bubblewrap" } : {};
      checkups.push({
        about: "machine",
        what,
        status: strongest ? "warning" : "bad",
        detail: reason ?? "does not work here",
        ...hint,
      });
      continue;
    }
    const probes = await probeFence(level);
    const through = probes.filter(({ outcome }) => outcome !== "contained");
    const used = level === strongest ? ", used by default" : "";
    const leaks =
      through.length === 0
        ? "all contained"
        : `lets through: ${through.map(({ probe }) => probe).join(", ")}`;
    const sound = level !== "full" || through.length === 0;
    checkups.push({
      about: "machine",
      what,
      status: sound ? (through.length === 0 ? "ok" : "warning") : "bad",
      detail: `${probes.length} attacks, ${leaks}${used}`,
    });
  }
  return checkups;
}
