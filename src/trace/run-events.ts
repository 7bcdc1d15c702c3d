/** What a run reports while it goes on; whoever shows progress only listens. */
export type RunEvent =
  | { type: "run-start"; run: string; resumed: boolean; modelKind: string; fence: string; seed: number }
  | { type: "round-start"; round: number; champion: string }
  | { type: "step-start"; step: StepName; detail: string; rollouts: number }
  | { type: "rollout-done"; how: "paid" | "memo"; costUsd: number }
  | { type: "observed"; champion: string; passed: number; n: number; replayable: number }
  | { type: "proposed"; candidate: string; proposer: string; lever: string | null; summary: string }
  | { type: "checked"; candidate: string; ok: boolean; reason: string }
  | { type: "screened"; candidate: string; passed: boolean; reason: string }
  | { type: "judged"; candidate: string; verdict: string; reason: string }
  | { type: "committed"; generation: string; candidate: string | null; commit: string }
  | { type: "control"; control: string; verdict: string; reason: string }
  | {
      type: "scored";
      which: string;
      score: number | null;
      interval: readonly [number, number] | null;
      n: number;
    }
  | { type: "note-opened"; id: string; kind: string; ask: string }
  | { type: "round-end"; round: number }
  | { type: "run-end"; stoppedBy: string };

export type StepName =
  | "observe"
  | "diagnose"
  | "propose"
  | "validate"
  | "screen"
  | "confirm"
  | "control"
  | "score";

export type RunListener = (event: RunEvent) => void;
