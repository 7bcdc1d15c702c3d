import type { ModelConfig } from "../../config/recipe-schema.ts";
import { randomOf } from "../../lib/random.ts";
import type { Message, ToolCall, ToolSchema } from "../../trace/messages.ts";
import type { Model, ModelReply, ModelRequest } from "../model.ts";
import { type VisibleContext, visibleContext } from "./context.ts";
import { type Decision, findDecision } from "./decision.ts";
import { type Directives, fillTemplate, readDirectives } from "./directives.ts";
import { type Judgement, judge } from "./judge.ts";
import { comparingTool, fillInput } from "./needs.ts";

export type SimConfig = Extract<ModelConfig, { kind: "sim" }>;

/**
 * A simulated agent: a deterministic function of the request and its seed, which knows nothing but what the request
 * says. docs/sim.md tells what it reads and does, and what numbers from it can and cannot show.
 */
export function createSimModel(config: SimConfig): Model {
  return { kind: "sim", name: config.name, complete: async (request) => reply(request, config) };
}

function reply(request: ModelRequest, config: SimConfig): ModelReply {
  const context = visibleContext(request.messages, config.context_chars);
  const decision = findDecision(context.instructions);
  const directives = readDirectives(context.instructions, decision, request.tools);
  const mind: Mind = { context, directives, request, config };
  const call = nextCall(mind, decision);
  if (call) return { ...priced(request, call.said), toolCalls: [call.call], finishReason: "tool_calls" };
  const said = decision ? answer(mind, decision) : "I do not see what there is to choose between.";
  return { ...priced(request, said), toolCalls: [], finishReason: "stop" };
}

/** All that one reply is made from. */
interface Mind {
  context: VisibleContext;
  directives: Directives;
  request: ModelRequest;
  config: SimConfig;
}

/** Whether it does what it was told `said` times: one draw each, the same in every step of a rollout. */
function obeys({ request, config }: Mind, directive: string, said: number): boolean {
  for (let time = 0; time < said; time++) {
    if (randomOf(request.seed, directive, time) < config.compliance) return true;
  }
  return false;
}

/** A call that it was told to make, or one that it needs; none once it sees the call's result, good or bad. */
function nextCall(mind: Mind, decision: Decision | undefined): { call: ToolCall; said: string } | undefined {
  const { context, directives, request } = mind;
  if (directives.finish && obeys(mind, "finish", 1)) return undefined;
  for (const { name, skill, said } of directives.calls) {
    const key = `call ${name} ${skill ?? ""}`;
    if (sees(context, name, skill) || !obeys(mind, key, said)) continue;
    const tool = request.tools.find((candidate) => candidate.name === name) ?? unknownTool(name);
    return callOf(request, tool, fillInput(tool, context.item, skill), `I was asked to call ${name} first.`);
  }
  const tool = decision && comparingTool(request.tools);
  if (!tool || sees(context, tool.name) || judge(context, decision).lines > 0) return undefined;
  return callOf(request, tool, fillInput(tool, context.item), "Let me see what this can be compared with.");
}

/** Whether a result of the tool is in sight: of the call for that skill, where one is named. */
function sees({ messages }: VisibleContext, name: string, skill?: string): boolean {
  return messages.some((message) => {
    if (message.role !== "tool" || message.name !== name || message.content === "") return false;
    return skill === undefined || inputOf(messages, message).includes(JSON.stringify(skill));
  });
}

function inputOf(messages: readonly Message[], result: Extract<Message, { role: "tool" }>): string {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? (message.toolCalls ?? []) : [],
  );
  return JSON.stringify(calls.find((call) => call.id === result.toolCallId)?.input ?? {});
}

function unknownTool(name: string): ToolSchema {
  return {
    name,
    description: "",
    inputSchema: { properties: { text: { type: "string" } }, required: ["text"] },
  };
}

function callOf(request: ModelRequest, tool: ToolSchema, input: Record<string, unknown>, said: string) {
  return { call: { id: `call_${request.messages.length}`, name: tool.name, input }, said };
}

function answer(mind: Mind, decision: Decision): string {
  const { directives, request, config } = mind;
  const rule = obeys(mind, "rules", 1) ? matchingRule(mind) : undefined;
  const judgement = judge(mind.context, decision);
  const option = rule?.option ?? judgement.option;
  const prose = rule ? `It mentions "${rule.keyword}", so ${option}.` : explain(judgement);
  const { format, brief } = directives;
  if (format && obeys(mind, "format", format.said)) {
    const line = fillTemplate(format.template, decision, option);
    return brief ? line : `${prose}\n${line}`;
  }
  const marked = randomOf(request.seed, "habit") < config.habit;
  return marked ? `${prose}\n${decision.name.toUpperCase()} ${option}` : prose;
}

function matchingRule({ context, directives }: Mind) {
  const item = context.item.toLowerCase();
  return directives.rules.find(({ keyword }) => item.includes(keyword));
}

function explain({ option, agreeing, lines }: Judgement): string {
  if (lines === 0) return `There is nothing to compare this with, so I would keep to ${option}.`;
  return `${agreeing} of ${lines} comparable records say ${option}, so I would go with that.`;
}

/** The reply's text with what it would cost: four characters a token, no money. */
function priced(request: ModelRequest, content: string) {
  const inputChars = request.messages.reduce((sum, message) => sum + message.content.length, 0);
  const usage = { inputTokens: Math.ceil(inputChars / 4), outputTokens: Math.ceil(content.length / 4) };
  return { content, usage, costUsd: 0 };
}
