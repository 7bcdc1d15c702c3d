import { hashOf } from "../lib/hash.ts";
import type { TraceEvent } from "../trace/events.ts";
import { type RebuiltRequest, rebuildRequests } from "../trace/rebuild.ts";
import type { Model, ModelReply, ModelRequest } from "./model.ts";

/** The first request that is not the recorded one: from here on the record says nothing. */
export class Divergence extends Error {
  /** Index of the request in the rollout. */
  readonly index: number;
  readonly request: ModelRequest;
  /** Undefined when the record has no request of that index. */
  readonly recorded: RebuiltRequest | undefined;

  constructor(index: number, request: ModelRequest, recorded: RebuiltRequest | undefined) {
    super(`request ${index} differs from the record`);
    this.name = "Divergence";
    this.index = index;
    this.request = request;
    this.recorded = recorded;
  }
}

/** Serves a record's replies, at no cost, while every request is equal to the recorded one. Throws `Divergence`. */
export function createReplayModel(record: readonly TraceEvent[]): Model {
  const requests = rebuildRequests(record);
  const replies = record.filter((event) => event.type === "model-reply");
  let index = 0;
  return {
    kind: "replay",
    name: "record",
    async complete(request): Promise<ModelReply> {
      const recorded = requests[index];
      const reply = replies[index];
      const { messages, tools, sampling } = request;
      if (reply === undefined || recorded?.digest !== hashOf({ messages, tools, sampling }))
        throw new Divergence(index, request, recorded);
      index++;
      const { content, toolCalls, finishReason, usage } = reply;
      return { content, toolCalls, finishReason, usage, costUsd: reply.costUsd };
    },
  };
}
