import { generationTag } from "../store/generation-history.ts";
import { foldNotes } from "../store/inbox.ts";
import type { LedgerView } from "../store/ledger.ts";
import { oneLine } from "../trace/plain-text.ts";
import { showInterval, showScore, signed, table } from "./format.ts";
import { type RunSummary, refusals } from "./summary.ts";

/** The last words of a run: what was gained, on which kind of model, how sure that is, and where to look next. */
export function summaryText(summary: RunSummary, ledger: LedgerView): string {
  return [
    generationsTable(ledger),
    refusalsTable(ledger),
    passedOverLine(ledger),
    controlsTable(ledger),
    gainLines(summary),
    needsLines(ledger),
    nextLines(summary),
  ]
    .filter((part) => part !== "")
    .join("\n\n");
}

function generationsTable(ledger: LedgerView): string {
  if (!ledger.find("committed", ({ candidate }) => candidate !== null)) return "Nothing was accepted.";
  const rows = ledger.all("committed").map((record): string[] => {
    const { generation, candidate } = record;
    const name = generationTag(generation);
    if (candidate === null) return [name, "–", "baseline", "", "", ""];
    const proposed = ledger.find("candidate-proposed", (other) => other.candidate === candidate);
    const verdict = ledger.find("verdict", (other) => other.candidate === candidate);
    const numbers = verdict?.numbers ?? {};
    return [
      name,
      candidate,
      proposed?.lever ?? "",
      signed(Number(numbers["effect"])),
      showInterval(numbers["interval"] as { low: number; high: number }),
      oneLine(verdict?.reason ?? "", 40),
    ];
  });
  return [
    "Accepted generations",
    table([["", "candidate", "lever", "effect", "95 % on this suite", "decided by"], ...rows], {
      indent: "  ",
    }),
  ].join("\n");
}

function refusalsTable(ledger: LedgerView): string {
  const rows = refusals(ledger).map(({ candidate, lever, by, reason }) => [
    candidate,
    lever,
    by,
    oneLine(reason, 80),
  ]);
  if (rows.length === 0) return "";
  return ["Refused", table([["", "lever", "by", "reason"], ...rows], { indent: "  " })].join("\n");
}

/** Candidates that no one refused: a better one was accepted first. */
function passedOverLine(ledger: LedgerView): string {
  const passed = ledger
    .all("screened")
    .filter(
      ({ candidate, passed: survived }) =>
        survived && !ledger.find("verdict", (v) => v.candidate === candidate),
    );
  if (passed.length === 0) return "";
  const names = passed.map(({ candidate }) => candidate).join(", ");
  return `Passed over, since another was accepted first (may be offered again): ${names}`;
}

function controlsTable(ledger: LedgerView): string {
  const rows = ledger
    .all("control")
    .map(({ control, verdict, numbers }) => [control, verdict, oneLine(String(numbers["reason"]), 110)]);
  if (rows.length === 0) return "";
  return ["Controls (must not be accepted; they commit nothing)", table(rows, { indent: "  " })].join("\n");
}

function gainLines({
  accepted,
  baseline,
  champion,
  model_kind,
  seed,
  rollouts,
  cost_usd,
  fence,
}: RunSummary): string {
  const line = (label: string, score: RunSummary["champion"]) =>
    score === null
      ? ""
      : `  ${label} ${generationTag(score.generation)}: ${showScore(score.score)} ${showInterval(score.interval)} on this suite, ${showInterval(score.on_new_tasks)} on new tasks like these (n ${score.n})`;
  return [
    `Gate score, model kind ${model_kind}, seed ${seed}, from rollouts that decided nothing`,
    line("baseline", baseline),
    accepted > 0 ? line("champion", champion) : "",
    `  ${rollouts.paid} rollouts paid, $${cost_usd.toFixed(2)}, fence ${fence}`,
    ...(model_kind === "sim"
      ? ["  A simulator answered: this shows that the optimiser works, not how a real model would do."]
      : []),
  ]
    .filter((text) => text !== "")
    .join("\n");
}

function needsLines(ledger: LedgerView): string {
  const open = foldNotes(ledger.records).filter(({ status }) => status === "open");
  if (open.length === 0) return "";
  return [
    "Needs a person",
    ...open.map(({ id, kind, ask }) => `  ${id} (${kind}) ${oneLine(ask, 140)}`),
  ].join("\n");
}

function nextLines({ run, champion, accepted }: RunSummary): string {
  const newest = generationTag(champion?.generation ?? 0);
  const onGains = [
    [`lorimer diff gen/0000 ${newest}`, "what changed, in words and code"],
    [`lorimer show ${newest}`, "why the newest one stands, with its evidence"],
  ];
  const commands = [
    [`lorimer log ${run}`, "every generation and refusal"],
    ...(accepted > 0 ? onGains : []),
    ["lorimer needs", "notes for you, and how to answer them"],
    [`lorimer final ${run}`, "the sealed split, once; closes the run"],
  ];
  return ["Where to look next", table(commands, { indent: "  " })].join("\n");
}
