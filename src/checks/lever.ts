import type { Finding } from "./check.ts";
import type { RunContext, Subject } from "./subject.ts";

/** One lever a candidate, and the one that it names: otherwise no effect can be put down to anything. */
export function checkLever({ proposal, leversTouched }: Subject): Finding[] {
  const others = leversTouched.filter((lever) => lever !== proposal.lever);
  if (others.length === 0) return [];
  const message = `names the lever ${proposal.lever} but changes ${leversTouched.join(" and ")}`;
  return [{ kind: "lever", message, hint: "Split it: one candidate for each lever." }];
}

/** Not the champion again, and not something that was tried on this champion before, whatever it is called. */
export function checkNovelty(
  { harness, proposal }: Subject,
  { champion, championName, earlier }: RunContext,
): Finding[] {
  if (proposal.parent !== championName) {
    const message = `its parent is ${proposal.parent}, the champion is ${championName}`;
    return [{ kind: "novelty", message, file: "_meta_scratch/candidate.yaml" }];
  }
  if (harness.behaviourHash === champion.behaviourHash)
    return [
      {
        kind: "no-op",
        message: "behaves exactly as the champion does",
        hint: "Comments, white space and names are no change.",
      },
    ];
  const before = earlier.find((attempt) => attempt.behaviour === harness.behaviourHash);
  if (before === undefined) return [];
  return [
    { kind: "novelty", message: `is ${before.candidate} again, on the same champion (${before.outcome})` },
  ];
}
