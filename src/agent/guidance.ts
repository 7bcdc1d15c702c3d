import type { ModelReply } from "../model/model.ts";
import type { TraceEventOf } from "../trace/events.ts";

type NudgeReason = TraceEventOf<"nudge">["reason"];

interface Note {
  reason: NudgeReason;
  text: string;
}

/** What the runtime itself says to the model, whatever the harness is: budget, empty and cut-off replies. */
export interface Guidance {
  /** Said at the start of a step, if anything. */
  beforeStep(step: number): Note | undefined;
  /** Whether calls of this step are held back, to keep the last request for the answer. */
  holdCalls(step: number): boolean;
  /** Why a reply without calls is no answer; `give-up` after too many of them, `go-on` where nothing is said of it. */
  objectionTo(reply: ModelReply): Note | "give-up" | "go-on" | undefined;
  note(reason: NudgeReason, text: string): Note;
}

const maxObjections = 3;
const warnAt = 0.7;

/** Guidance for one rollout of at most `maxSteps` requests; `guided: false` says nothing at all. */
export function guidanceFor(guided: boolean, maxSteps: number): Guidance {
  let warned = false;
  let objections = 0;
  const note = (reason: NudgeReason, text: string): Note => ({ reason, text });

  return {
    note,
    beforeStep(step) {
      if (!guided || maxSteps < 2) return undefined;
      if (step === maxSteps - 1)
        return note(
          "last_step",
          "This is your last turn: no tool runs any more. Give your final answer now.",
        );
      if (warned || step < warnAt * maxSteps) return undefined;
      warned = true;
      return note(
        "budget_warning",
        `You have used ${step} of ${maxSteps} turns. Finish in the ${maxSteps - step} that are left.`,
      );
    },
    holdCalls: (step) => guided && maxSteps >= 2 && step === maxSteps - 1,
    objectionTo(reply) {
      if (!guided) return reply.finishReason === "stop" ? undefined : "go-on";
      const cutOff = reply.finishReason === "length";
      if (!cutOff && reply.content.trim() !== "") return undefined;
      if (++objections > maxObjections) return "give-up";
      return cutOff
        ? note("cut_off", "Your reply was cut off before its end. Say it again, shorter.")
        : note("empty_reply", "Your reply was empty. Call a tool, or give your final answer.");
    },
  };
}
