import { z } from "zod";
import { limitsSchema } from "../config/harness-schema.ts";
import { type Spec, specSchema } from "../config/recipe-schema.ts";
import { LorimerError, messageOf } from "../lib/errors.ts";
import type { Model, ModelReply } from "../model/model.ts";
import type { Message } from "../trace/messages.ts";
import { gateFailure } from "./eval-gate.ts";
import { allowed } from "./harness.ts";
import { runAgent } from "./loop.ts";
import type { ToolPart } from "./parts.ts";
import { renderTask } from "./task-prompt.ts";

type Block =
  | { type: "text"; text: string }
  | { type: "tool_use"; id: string; name: string; input: Record<string, unknown> };

/** One response of a model that speaks in content blocks. */
export interface BlockResponse {
  stop_reason: "tool_use" | "end_turn" | "max_tokens";
  content: Block[];
}

/** A model as a function of the messages so far. */
export type BlockModel = (messages: readonly Message[]) => BlockResponse | Promise<BlockResponse>;

/** A trusted tool of the caller's; what it returns is made text. */
type PlainTool = (input: never) => unknown;

/** A spec as a caller writes it; `must_call` and `must_include` may be left out. */
export type HarnessSpec = Omit<Spec, "decisions" | "eval_gate"> & {
  decisions: Record<string, { reversible?: boolean; options?: string[] }>;
  eval_gate: { must_call?: string | null; must_include?: string | null; max_iters: number };
};

export interface HarnessRunResult {
  /** The final text, or `capped`. */
  text: string;
  iters: number;
  /** Calls that really ran. */
  tool_calls: number;
  gate: "pass" | "fail";
}

/**
 * Runs one spec on trusted tools and a model, on the same loop as every rollout, and judges it by the spec's eval gate.
 * Calls to names outside `spec.allowlist` are skipped with a linked result, and fail the gate.
 * @throws LorimerError `usage` when the spec is wrong, or the model has no response for a turn
 */
export async function buildHarnessRun(
  spec: HarnessSpec,
  inputs: Record<string, string>,
  tools: Record<string, PlainTool>,
  model: BlockModel,
  maxIterations: number,
): Promise<HarnessRunResult> {
  const parsed = checked("spec", specSchema, spec);
  const named = new Set<string>();
  const result = await runAgent({
    harness: {
      systemPrompt: "",
      tools: new Map(Object.entries(tools).map(([name, run]) => [name, plainTool(name, run)])),
      processors: [],
      limits: checked("maxIterations", limitsSchema, { max_steps: maxIterations }),
      allowlist: allowed(parsed.allowlist, null),
    },
    task: renderTask(parsed, inputs),
    model: blockModel(model, named),
    sampling: {},
    seed: 0,
    sink: () => {},
    policy: "fail-task",
    guided: false,
  });
  const capped = result.exitReason === "max_steps";
  // Also what it named in its last turn, where nothing is dispatched.
  const refused = parsed.allowlist.includes("*")
    ? []
    : [...named].filter((name) => !parsed.allowlist.includes(name));
  const failure = gateFailure(parsed, { ...result, refused }, parsed.eval_gate.must_include ?? "");
  return {
    text: capped ? "capped" : result.answer,
    iters: result.steps,
    tool_calls: result.dispatched.length,
    gate: failure === undefined ? "pass" : "fail",
  };
}

/** The result in one line, its text quoted with single quotes unless it has some and no double ones. */
export function formatHarnessRun({ text, iters, tool_calls, gate }: HarnessRunResult): string {
  const escaped = text.replace(/[\\\p{Cc}\p{Zl}\p{Zp}]/gu, escapeCharacter);
  const quote = escaped.includes("'") && !escaped.includes('"') ? '"' : "'";
  const body = quote === "'" ? escaped.replaceAll("'", "\\'") : escaped;
  return `text=${quote}${body}${quote} iters=${iters} tool_calls=${tool_calls} gate=${gate}`;
}

const escapes: Readonly<Record<string, string>> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function escapeCharacter(character: string): string {
  const code = character.charCodeAt(0);
  const hex = code < 256 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u${code.toString(16)}`;
  return escapes[character] ?? hex;
}

function checked<Output>(what: string, schema: z.ZodType<Output>, given: unknown): Output {
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new LorimerError("usage", `buildHarnessRun: ${what}: ${z.prettifyError(parsed.error)}`, {
    hint: "The spec has the fields of `spec` in recipe.yaml.",
  });
}

function plainTool(name: string, run: PlainTool): ToolPart {
  return {
    schema: { name, description: name, inputSchema: { type: "object" } },
    async run(input) {
      try {
        const value = (await run(input as never)) ?? "";
        // A function has no JSON at all.
        const result = typeof value === "string" ? value : String(JSON.stringify(value) ?? "");
        return { result, isError: result.startsWith(`[${name} failed`) };
      } catch (error) {
        return { result: `[${name} failed: ${messageOf(error)}]`, isError: true };
      }
    },
  };
}

/** Adds to `named` every tool that the model names. */
function blockModel(respond: BlockModel, named: Set<string>): Model {
  let turn = 0;
  return {
    kind: "scripted",
    name: "blocks",
    async complete({ messages }) {
      turn++;
      const response = (await respond(messages)) as BlockResponse | undefined;
      if (!Array.isArray(response?.content))
        throw new LorimerError("usage", `the model has no response for turn ${turn}`, {
          hint: "Give it one response a turn, the last one with stop_reason end_turn.",
        });
      for (const block of response.content) if (block.type === "tool_use") named.add(block.name);
      return fromBlocks(response);
    },
  };
}

function fromBlocks({ content, stop_reason }: BlockResponse): ModelReply {
  const calls = content.flatMap((block) =>
    block.type === "tool_use" ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  const finishReason = finishReasons[stop_reason];
  return {
    content: content.flatMap((block) => (block.type === "text" ? [block.text] : [])).join(""),
    toolCalls: finishReason === "stop" ? [] : calls,
    finishReason,
    usage: { inputTokens: 0, outputTokens: 0 },
    costUsd: 0,
  };
}

const finishReasons = { end_turn: "stop", tool_use: "tool_calls", max_tokens: "length" } as const;
