import { oneLine } from "../trace/plain-text.ts";
import type { RunEvent } from "../trace/run-events.ts";
import { clock, showInterval, showScore, table } from "./format.ts";

/** Where progress goes: `line` is kept, `live` is overwritten by whatever comes next. */
export interface ProgressScreen {
  line(text: string): void;
  live(text: string): void;
  now(): number;
}

/** What only the process knows that ran the loop. */
export interface Measured {
  paid: number;
  memo: number;
}

/** Turns a run's events into lines; on a terminal also into one live line: round, step, done of total, spend, ETA. */
export function progressListener(screen: ProgressScreen): {
  listen(event: RunEvent): void;
  measured: Measured;
} {
  const measured: Measured = { paid: 0, memo: 0 };
  const state = {
    round: 0,
    step: "",
    total: 0,
    done: 0,
    spent: 0,
    stepStart: screen.now(),
    rows: [] as string[][],
  };

  const live = () => {
    const { round, step, total, done, spent, stepStart } = state;
    const rate = done / Math.max(1, screen.now() - stepStart);
    const eta = done > 0 && total > done ? ` · about ${clock((total - done) / rate / 1000)} left` : "";
    screen.live(`round ${round} · ${step} · ${done} of ${total} rollouts · $${spent.toFixed(2)}${eta}`);
  };
  const row = (candidate: string, change: (cells: string[]) => void) => {
    const cells = state.rows.find(([id]) => id === candidate);
    if (cells) change(cells);
  };

  return {
    measured,
    listen(event) {
      switch (event.type) {
        case "rollout-done":
          measured[event.how]++;
          state.done++;
          state.spent += event.costUsd;
          live();
          return;
        case "step-start":
          Object.assign(state, {
            step: `${event.step} ${event.detail}`,
            total: event.rollouts,
            done: 0,
            stepStart: screen.now(),
          });
          live();
          return;
        case "round-start":
          Object.assign(state, { round: event.round, rows: [] });
          break;
        case "proposed":
          if (event.lever !== null) state.rows.push([event.candidate, event.lever, "", ""]);
          break;
        case "checked":
          row(event.candidate, (cells) =>
            cells.splice(2, 2, event.ok ? "passed over" : "refused", event.reason),
          );
          break;
        case "screened":
          row(event.candidate, (cells) =>
            cells.splice(2, 2, event.passed ? "passed over" : "ended by the screen", event.reason),
          );
          break;
        case "judged":
          row(event.candidate, (cells) => cells.splice(2, 2, event.verdict, event.reason));
          break;
        case "round-end":
          if (state.rows.length > 0)
            screen.line(
              table(
                state.rows.map((cells) => cells.map((cell) => oneLine(cell, 90))),
                { indent: "    " },
              ),
            );
          return;
      }
      const text = lineOf(event);
      if (text !== "") screen.line(text);
    },
  };
}

function lineOf(event: RunEvent): string {
  switch (event.type) {
    case "run-start":
      return `${event.run}: ${event.resumed ? "going on" : "started"}, model kind ${event.modelKind}, fence ${event.fence}, seed ${event.seed}`;
    case "round-start":
      return `round ${event.round}, champion ${event.champion}`;
    case "observed":
      return `  observed ${event.champion}: ${event.passed} of ${event.n} pass on the evolve split; it replays itself on ${(event.replayable * 100).toFixed(0)} % of its records`;
    case "proposed":
      return event.lever === null
        ? `  ${event.candidate} ${event.proposer}: nothing (${oneLine(event.summary, 120)})`
        : `  ${event.candidate} ${event.lever}: ${oneLine(event.summary, 150)}`;
    case "committed":
      return `  committed ${event.generation}${event.candidate ? ` from ${event.candidate}` : ""} as ${event.commit.slice(0, 10)}`;
    case "control":
      return `  control, ${event.control}: ${event.verdict} (${oneLine(event.reason, 140)})`;
    case "scored":
      return `  ${event.which} scores ${showScore(event.score)} ${showInterval(event.interval)} on the gate split, n ${event.n}`;
    case "note-opened":
      return `  needs a person (${event.kind}, ${event.id}): ${oneLine(event.ask, 140)}`;
    case "run-end":
      return `stopped: ${event.stoppedBy}`;
    default:
      return "";
  }
}
