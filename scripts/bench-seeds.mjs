// Evolves inbox-triage over several seeds, each with its own draw of tasks, and scores each champion on its sealed split.
// Prints a table and a machine line, or with --json one document. Asserts nothing.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const { values } = parseArgs({
  options: { seeds: { type: "string", default: "10" }, json: { type: "boolean", default: false } },
});
const root = fileURLToPath(new URL("..", import.meta.url));
const runs = mkdtempSync(join(tmpdir(), "lorimer-seeds-"));

function lorimer(...args) {
  const output = execFileSync(
    process.execPath,
    [join(root, "bin/lorimer.js"), ...args, "--runs", runs, "--json"],
    {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  return JSON.parse(output);
}

function oneSeed(seed) {
  const run = lorimer("evolve", join(root, "recipes/inbox-triage"), "--seed", String(seed));
  const sealed = lorimer("final", run.run);
  return {
    seed,
    baseline: run.baseline.score,
    champion: run.champion.score,
    n: run.champion.n,
    sealed: sealed.score,
    sealed_n: sealed.n,
    accepted: run.accepted,
    rejected: run.rejected,
    seconds: run.seconds,
  };
}

const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

try {
  const rows = Array.from({ length: Number(values.seeds) }, (_, index) => oneSeed(index + 1));
  const gaps = rows.map(({ champion, sealed }) => sealed - champion);
  const summary = {
    model_kind: "sim",
    seeds: rows.length,
    baseline: mean(rows.map((row) => row.baseline)),
    champion: mean(rows.map((row) => row.champion)),
    sealed: mean(rows.map((row) => row.sealed)),
    mean_gap: mean(gaps),
    mean_absolute_gap: mean(gaps.map(Math.abs)),
    machine: `${cpus().length} × ${cpus()[0]?.model ?? "unknown"}, node ${process.version}`,
  };
  if (values.json) console.log(JSON.stringify({ rows, ...summary }, null, 2));
  else {
    console.table(rows);
    console.table(summary);
  }
} finally {
  rmSync(runs, { recursive: true, force: true });
}
