import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { writeFileAtomic } from "../lib/atomic-write.ts";
import { LorimerError, messageOf, systemCode } from "../lib/errors.ts";
import { modelKinds } from "../trace/events.ts";
import { ensureRunsDir } from "./paths.ts";

const manifestVersion = 1;

/** run.json: what a run was started with; written once. */
export const runManifestSchema = z.strictObject({
  v: z.literal(manifestVersion),
  id: z.string(),
  created: z.string().describe("ISO time"),
  recipe: z.strictObject({
    name: z.string(),
    dir: z.string().describe("Absolute path when the run was started"),
    hash: z.string(),
  }),
  resources_hash: z.string(),
  runtime: z.string().describe("Hash of what runs the agent: rollouts of another one are not reused"),
  seed: z.number().int(),
  model: z.strictObject({ kind: z.enum(modelKinds), name: z.string() }),
  fence: z.enum(["full", "partial", "weak"]),
  splits: z.strictObject({
    evolve: z.array(z.string()),
    gate: z.array(z.string()),
    test: z.array(z.string()),
  }),
  task_set_hash: z.string(),
  options: z.record(z.string(), z.unknown()),
});
export type RunManifest = z.infer<typeof runManifestSchema>;

/** A run's folder: its manifest and where its files lie. */
export interface RunFolder {
  id: string;
  dir: string;
  manifest: RunManifest;
  ledgerFile: string;
  journalFile: string;
  reportFile: string;
  inboxDir: string;
  generationsDir: string;
  exportsDir: string;
  candidatesDir: string;
  rolloutsDir: string;
  /** @throws LorimerError `missing` for what cannot be an id: it may come from a proposer */
  candidateDir(id: string): string;
  /** The trajectory of a rollout; its Markdown has the same name with `.md`. Throws as `candidateDir` does. */
  rolloutFile(key: string): string;
}

/** Makes `<recipe>-NNNN` with the next free number; two processes never get the same one. */
export function createRun(
  runsDir: string,
  recipeName: string,
  manifest: Omit<RunManifest, "v" | "id" | "created">,
): RunFolder {
  ensureRunsDir(runsDir);
  const { id, dir } = claimFolder(runsDir, recipeName);
  const full: RunManifest = { v: manifestVersion, id, created: new Date().toISOString(), ...manifest };
  for (const name of ["inbox", "candidates", "exports", "rollouts"]) mkdirSync(join(dir, name));
  writeFileAtomic(join(dir, "run.json"), `${JSON.stringify(runManifestSchema.parse(full), null, 2)}\n`);
  return runFolder(dir, full);
}

function claimFolder(runsDir: string, recipeName: string): { id: string; dir: string } {
  const numbers = readdirSync(runsDir)
    .filter((name) => name.startsWith(`${recipeName}-`))
    .map((name) => name.slice(recipeName.length + 1))
    .filter((rest) => /^\d{4,}$/.test(rest))
    .map(Number);
  for (let number = Math.max(0, ...numbers) + 1; ; number++) {
    const id = `${recipeName}-${String(number).padStart(4, "0")}`;
    const dir = join(runsDir, id);
    try {
      mkdirSync(dir);
      return { id, dir };
    } catch (error) {
      if (systemCode(error) !== "EEXIST") {
        throw new LorimerError("infra", `cannot create ${dir}: ${messageOf(error)}`, { cause: error });
      }
    }
  }
}

function runFolder(dir: string, manifest: RunManifest): RunFolder {
  return {
    id: basename(dir),
    dir,
    manifest,
    ledgerFile: join(dir, "ledger.jsonl"),
    journalFile: join(dir, "journal.md"),
    reportFile: join(dir, "report.html"),
    inboxDir: join(dir, "inbox"),
    generationsDir: join(dir, "generations"),
    exportsDir: join(dir, "exports"),
    candidatesDir: join(dir, "candidates"),
    rolloutsDir: join(dir, "rollouts"),
    candidateDir: (id) => join(dir, "candidates", plainName(id, "candidate")),
    rolloutFile: (key) => join(dir, "rollouts", `${plainName(key, "rollout")}.jsonl`),
  };
}

function plainName(name: string, what: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/.test(name)) return name;
  throw new LorimerError("missing", `${JSON.stringify(name.slice(0, 80))} is no ${what} of a run`);
}

/** A folder in runs/ that is not a run which can be read, and why. */
export interface BrokenRun {
  id: string;
  problem: LorimerError;
}

/** Every run that can be read, oldest first. */
export function listRuns(runsDir: string): RunFolder[] {
  return scan(runsDir).filter((entry) => "manifest" in entry);
}

/** Folders that look like runs and cannot be read: half created, hand-edited, or of a newer lorimer. */
export function listBrokenRuns(runsDir: string): BrokenRun[] {
  return scan(runsDir).filter((entry) => "problem" in entry);
}

function scan(runsDir: string): (RunFolder | BrokenRun)[] {
  return runNames(runsDir)
    .map((id) => {
      try {
        return readRun(join(runsDir, id));
      } catch (error) {
        if (error instanceof LorimerError) return { id, problem: error };
        throw error;
      }
    })
    .sort((a, b) => compare(createdOf(a), createdOf(b)) || compare(a.id, b.id));
}

function createdOf(entry: RunFolder | BrokenRun): string {
  return "manifest" in entry ? entry.manifest.created : "";
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function runNames(runsDir: string): string[] {
  try {
    return readdirSync(runsDir, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (systemCode(error) === "ENOENT") return [];
    throw new LorimerError("infra", `cannot read ${runsDir}: ${messageOf(error)}`, { cause: error });
  }
}

function readRun(dir: string): RunFolder {
  const file = join(dir, "run.json");
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    if (systemCode(error) === "ENOENT") {
      throw new LorimerError(
        "missing",
        `${dir} has no run.json: the run was stopped before it began, or the file was taken away`,
        {
          hint: "Without a ledger.jsonl in it nothing was paid for, and the folder can be deleted.",
        },
      );
    }
    throw new LorimerError("infra", `cannot read ${file}: ${messageOf(error)}`, { cause: error });
  }
  const version = z.object({ v: z.number() }).safeParse(value).data?.v;
  if (version !== undefined && version > manifestVersion) {
    throw new LorimerError("infra", `${file} has format ${version}; this lorimer reads ${manifestVersion}`, {
      hint: "Use the lorimer that wrote it, or a newer one.",
    });
  }
  const parsed = runManifestSchema.safeParse(value);
  if (!parsed.success) {
    throw new LorimerError("infra", `${file} is not a run's manifest: ${z.prettifyError(parsed.error)}`);
  }
  return runFolder(dir, parsed.data);
}

/**
 * The run named by id, by a prefix that only one id has, or `latest` (highest `created` of those that evolve).
 * @throws LorimerError `missing` with the ids that there are, `usage` for an ambiguous prefix, `infra` when it cannot be read
 */
export function openRun(runsDir: string, wanted = "latest"): RunFolder {
  const names = runNames(runsDir);
  if (names.length === 0) throw noRuns(runsDir);
  if (wanted === "latest") {
    // A single pass (`lorimer run`) has no generations: no other command means it unless it is named.
    const latest = listRuns(runsDir).findLast(({ manifest }) => manifest.options["one_pass"] !== true);
    if (latest === undefined) throw listBrokenRuns(runsDir)[0]?.problem ?? noRuns(runsDir);
    return latest;
  }
  // A path that the shell completed names the run just as well.
  const name = basename(wanted);
  if (names.includes(name)) return readRun(join(runsDir, name));
  const matches = name === "" ? [] : names.filter((id) => id.startsWith(name));
  if (matches.length > 1) {
    throw new LorimerError("usage", `run "${name}" is ambiguous: ${shown(matches)}`, {
      hint: "Give more of the id, or all of it.",
    });
  }
  const only = matches[0];
  if (only === undefined) {
    throw new LorimerError("missing", `there is no run "${name}" in ${runsDir}`, {
      hint: `Runs there: ${shown(names)}.`,
    });
  }
  return readRun(join(runsDir, only));
}

function noRuns(runsDir: string): LorimerError {
  return new LorimerError("missing", `no runs yet in ${runsDir}`, {
    hint: "Start one with `lorimer evolve RECIPE`.",
  });
}

function shown(names: string[]): string {
  const newest = names.slice(-10).join(", ");
  return names.length > 10 ? `${newest} and ${names.length - 10} more` : newest;
}
