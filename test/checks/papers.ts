import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import type { ChampionRecord, RunContext, Subject } from "../../src/checks/subject.ts";
import type { Proposal } from "../../src/config/candidate-schema.ts";
import type { TraceEvent } from "../../src/trace/events.ts";
import { factsOf } from "../../src/trace/facts.ts";
import type { Message, ToolCall } from "../../src/trace/messages.ts";
import { readTrace } from "../../src/trace/steps.ts";

export function writeFiles(dir: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  }
}

export function proposalOf(what: Partial<Proposal> = {}): Proposal {
  return {
    parent: "gen/0000",
    lever: "processor",
    hypothesis: "It helps.",
    evidence: [{ rollout: "r1", step: 0, quote: "a question" }],
    predicts: { fixes: [], risks: [] },
    signature: {},
    why_not: {},
    ...what,
  };
}

export function candidateYaml(what: Partial<Proposal> = {}): Record<string, string> {
  return { "_meta_scratch/candidate.yaml": stringify(proposalOf(what)) };
}

/** A subject of which a check reads no more than is given. */
export function subjectOf(what: Partial<Subject>): Subject {
  return what as Subject;
}

export function contextOf(what: Partial<RunContext>): RunContext {
  return what as RunContext;
}

/** A record of a rollout in which each step is a reply, some with one call and its result. */
export function recordOf(
  key: string,
  {
    task = key,
    outcome = "fail",
    system = "Be good.",
    input = "a question",
    steps = [{ said: "an answer" }],
  }: {
    task?: string;
    outcome?: "pass" | "fail";
    system?: string;
    input?: string;
    steps?: { said: string; call?: Omit<ToolCall, "id">; result?: string }[];
  } = {},
): ChampionRecord {
  const opening: Message[] = [
    { role: "system", content: system },
    { role: "user", content: input },
  ];
  const usage = { inputTokens: 1, outputTokens: 1 };
  const events: TraceEvent[] = [
    {
      type: "rollout-start",
      v: 1,
      rollout: key,
      task,
      split: "evolve",
      seed: 1,
      behaviour: "b",
      model: { kind: "scripted", name: "scripted" },
      sampling: {},
      tools: [],
    },
    { type: "messages-append", messages: opening },
    ...steps.flatMap(({ said, call, result = "fine" }, step): TraceEvent[] => {
      const calls = call ? [{ id: `call-${step}`, ...call }] : [];
      return [
        { type: "model-request", step, digest: "d" },
        {
          type: "model-reply",
          step,
          content: said,
          toolCalls: calls,
          finishReason: "stop",
          usage,
          costUsd: 0,
        },
        ...calls.flatMap((made): TraceEvent[] => [
          { type: "tool-call", step, call: made, disposition: "dispatched" },
          { type: "tool-result", step, callId: made.id, name: made.name, result, isError: false },
        ]),
      ];
    }),
    {
      type: "rollout-end",
      exitReason: "done",
      answer: steps.at(-1)?.said ?? "",
      steps: steps.length,
      toolCalls: 0,
      usage,
      costUsd: 0,
      faults: [],
    },
  ];
  const trace = readTrace(events);
  if (trace === undefined) throw new Error("a record has a start");
  const scored = { key, task, outcome } as ChampionRecord["scored"];
  return { scored, events, facts: factsOf(trace), replayable: true };
}
