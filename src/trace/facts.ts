import { hashOf } from "../lib/hash.ts";
import type { Disposition, ExitReason } from "./events.ts";
import type { ReadTrace } from "./steps.ts";

export interface CallFact {
  step: number;
  name: string;
  /** Digest of name and input: equal for the same call again. */
  digest: string;
  disposition: Disposition;
  isError: boolean;
  /** The last 200 characters of the result, when it is an error. */
  errorTail: string | undefined;
  /** Characters of the result. */
  resultChars: number;
}

/** What can be read off one trajectory by machine; nothing in it is a judgement, and nothing comes from the grader. */
export interface TraceFacts {
  rollout: string;
  task: string;
  exitReason: ExitReason | undefined;
  steps: number;
  answer: string;
  calls: CallFact[];
  /** Steps at which a call was made that had been made before, with the same input. */
  repeats: { step: number; name: string }[];
  /** Tools that were offered and never called. */
  unused: string[];
  /** The beginning of the task as the model first saw it. */
  taskHead: string;
  /** Characters of the whole task. */
  taskChars: number;
  /** Share of the task's characters that are markup: tags and encoded bytes. */
  markupShare: number;
  /** What the model said, per step. */
  said: { step: number; text: string }[];
  /** Processors that did something, with the steps at which they did. */
  fired: { processor: string; step: number }[];
  processorErrors: { processor: string; hook: string; step: number; message: string }[];
}

const tailChars = 200;
const headChars = 2000;

export function factsOf(trace: ReadTrace): TraceFacts {
  const calls = trace.steps.flatMap((step) => step.calls.map((call) => callFact(call, step.results)));
  const task = trace.opening.find((message) => message.role === "user")?.content ?? "";
  const called = new Set(calls.map((call) => call.name));
  return {
    rollout: trace.start.rollout,
    task: trace.start.task,
    exitReason: trace.end?.exitReason,
    steps: trace.end?.steps ?? trace.steps.length,
    answer: trace.end?.answer ?? "",
    calls,
    repeats: repeatsOf(calls),
    unused: trace.start.tools.map((tool) => tool.name).filter((name) => !called.has(name)),
    taskHead: task.slice(0, headChars),
    taskChars: task.length,
    markupShare: markupShare(task),
    said: trace.steps.flatMap(({ step, reply }) => (reply?.content ? [{ step, text: reply.content }] : [])),
    fired: trace.steps.flatMap(({ step, triggers }) =>
      triggers.map(({ processor }) => ({ processor, step })),
    ),
    processorErrors: trace.steps.flatMap(({ errors }) =>
      errors.map(({ processor, hook, step, message }) => ({ processor, hook, step, message })),
    ),
  };
}

type Call = ReadTrace["steps"][number]["calls"][number];
type Results = ReadTrace["steps"][number]["results"];

function callFact({ step, call, disposition }: Call, results: Results): CallFact {
  const result = results.find((candidate) => candidate.callId === call.id);
  return {
    step,
    name: call.name,
    digest: hashOf([call.name, call.input]).slice(0, 16),
    disposition,
    isError: result?.isError ?? false,
    errorTail: result?.isError ? result.result.slice(-tailChars) : undefined,
    resultChars: result?.result.length ?? 0,
  };
}

function repeatsOf(calls: readonly CallFact[]): { step: number; name: string }[] {
  const seen = new Set<string>();
  return calls.flatMap(({ digest, step, name }) => {
    if (seen.has(digest)) return [{ step, name }];
    seen.add(digest);
    return [];
  });
}

/** How much of a text is tags, entities or quoted-printable bytes, in [0, 1]. */
function markupShare(text: string): number {
  if (text.length === 0) return 0;
  let markup = 0;
  for (const match of text.matchAll(/<[^<>]{1,400}>|&[a-z]{2,8};|=[0-9A-F]{2}|=\n/gi))
    markup += match[0].length;
  return markup / text.length;
}
