import { z } from "zod";
import { hookNames } from "../agent/hooks.ts";
import {
  type OpenParts,
  PartError,
  type ProcessorPart,
  type ToolOutcome,
  type ToolPart,
} from "../agent/parts.ts";
import type { AuthoredPart } from "../config/harness.ts";
import { messageOf } from "../lib/errors.ts";
import { hashOf } from "../lib/hash.ts";
import { toolSchemaSchema } from "../trace/messages.ts";
import type { Slot, WorkerPool } from "./pool.ts";
import type { WorkerRequest } from "./protocol.ts";
import { PartFault, WorkerFault } from "./worker-process.ts";

const maxDescription = 4000;
const maxSchemaBytes = 64 * 1024;

// A worker's word on its own parts is checked like everything it sends.
const toolReply = toolSchemaSchema
  .extend({ description: z.string().min(1).max(maxDescription) })
  .refine(
    (schema) => JSON.stringify(schema.inputSchema).length <= maxSchemaBytes,
    "its input schema is too large",
  );
const processorReply = z.strictObject({
  order: z.number(),
  group: z.string().optional(),
  after: z.array(z.string()).max(100),
  hooks: z.array(z.enum(hookNames)).max(hookNames.length),
});
const outcomeReply = z.strictObject({ result: z.string().min(1), isError: z.boolean() });
const valuesReply = z.array(z.unknown());
/** `worn`: nothing wrong, but the worker is no longer as it was. */
const endReply = z.strictObject({ faults: z.array(z.string()).max(200), worn: z.boolean() });

interface SessionOptions {
  pool: WorkerPool;
  callTimeoutMs: number;
}

/** Opens authored parts for one rollout on a worker of their generation. @throws PartError, LorimerError `infra` */
export async function openSession(
  parts: readonly AuthoredPart[],
  options: SessionOptions,
): Promise<OpenParts> {
  const slot = await options.pool.acquire(hashOf(parts.map(({ codeHash }) => codeHash).sort()));
  const session = new Session(parts, slot, options);
  try {
    return await session.open();
  } catch (error) {
    options.pool.release(slot, { keep: false });
    throw error;
  }
}

/** One rollout's hold on a worker. A worker that dies is replaced at the next call, with the parts loaded again. */
class Session {
  readonly #parts: readonly AuthoredPart[];
  readonly #slot: Slot;
  readonly #options: SessionOptions;
  readonly #faults: string[] = [];
  /** Calls run one after another, in the order they were made. */
  #last: Promise<unknown> = Promise.resolve();
  #closed: Promise<string[]> | undefined;

  constructor(parts: readonly AuthoredPart[], slot: Slot, options: SessionOptions) {
    this.#parts = parts;
    this.#slot = slot;
    this.#options = options;
  }

  async open(): Promise<OpenParts> {
    const replies = await this.#loadAll();
    const opened = this.#parts.map((part, index) => ({ part, index, reply: replies[index] }));
    return {
      tools: opened
        .filter(({ part }) => part.kind === "tool")
        .map(({ part, index, reply }) => this.#toolPart(part, index, reply)),
      processors: opened
        .filter(({ part }) => part.kind === "processor")
        .map(({ part, index, reply }) => this.#processorPart(part, index, reply)),
      workspace: this.#slot.workspace,
      close: () => {
        this.#closed ??= this.#close();
        return this.#closed;
      },
    };
  }

  #toolPart(part: AuthoredPart, index: number, reply: unknown): ToolPart {
    const schema = checked(toolReply, reply, part);
    const name = part.exportName;
    return {
      schema: { ...schema, name },
      run: async (input): Promise<ToolOutcome> => {
        try {
          return outcomeReply.parse(await this.#call({ op: "tool", part: index, input }));
        } catch (error) {
          return { result: `[${name} failed: ${faultOf(error)}]`, isError: true };
        }
      },
    };
  }

  #processorPart(part: AuthoredPart, index: number, reply: unknown): ProcessorPart {
    const { order, group, after, hooks } = checked(processorReply, reply, part);
    return {
      name: part.exportName,
      order,
      group,
      after,
      hooks: new Set(hooks),
      run: async (hook, event) => {
        try {
          return valuesReply.parse(await this.#call({ op: "hook", part: index, hook, event }));
        } catch (error) {
          throw new Error(`${hook}: ${faultOf(error)}`, { cause: error });
        }
      },
    };
  }

  #call(request: WorkerRequest): Promise<unknown> {
    if (this.#closed !== undefined) throw new Error("the rollout is over");
    const result = this.#last.then(() => this.#callNow(request));
    this.#last = result.catch(() => {});
    return result;
  }

  async #callNow(request: WorkerRequest): Promise<unknown> {
    if (!this.#slot.worker.alive) {
      await this.#options.pool.restart(this.#slot);
      await this.#loadAll();
    }
    return this.#send(request);
  }

  async #send(request: WorkerRequest): Promise<unknown> {
    const start = performance.now();
    try {
      return await this.#slot.worker.call(request, this.#options.callTimeoutMs);
    } catch (error) {
      if (error instanceof WorkerFault)
        this.#faults.push(`${describe(request, this.#parts)}: ${error.message}`);
      throw error;
    } finally {
      this.#slot.busyMs += performance.now() - start;
    }
  }

  async #loadAll(): Promise<unknown[]> {
    const replies: unknown[] = [];
    for (const part of this.#parts) {
      const { kind, file, exportName, codeHash, code, options } = part;
      const { known } = this.#slot;
      const sent = { kind, file, exportName, codeHash, options, ...(known.has(codeHash) ? {} : { code }) };
      try {
        replies.push(await this.#send({ op: "load", part: sent }));
        known.add(codeHash);
      } catch (error) {
        throw new PartError(file, `${exportName}: ${faultOf(error)}`);
      }
    }
    return replies;
  }

  async #close(): Promise<string[]> {
    await this.#last;
    const keep = this.#slot.worker.alive && (await this.#end());
    this.#options.pool.release(this.#slot, { keep: keep && this.#faults.length === 0 });
    return this.#faults;
  }

  /** Ends the rollout in its worker; false when that worker must not serve another. */
  async #end(): Promise<boolean> {
    try {
      const { faults, worn } = endReply.parse(await this.#send({ op: "end" }));
      this.#faults.push(...faults);
      return !worn;
    } catch (error) {
      if (!(error instanceof WorkerFault)) this.#faults.push(`after the rollout: ${faultOf(error)}`);
      return false;
    }
  }
}

/** @throws what is not authored code's fault: the fence itself broke. */
function faultOf(error: unknown): string {
  if (error instanceof PartFault || error instanceof WorkerFault || error instanceof PartError) {
    return error.message;
  }
  if (error instanceof z.ZodError) return "its worker's answer was malformed";
  throw error;
}

function checked<Output>(schema: z.ZodType<Output>, reply: unknown, part: AuthoredPart): Output {
  const parsed = schema.safeParse(reply);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new PartError(part.file, `${part.exportName}: ${issue?.path.join(".")}: ${messageOf(issue)}`);
}

function describe(request: WorkerRequest, parts: readonly AuthoredPart[]): string {
  switch (request.op) {
    case "load":
      return `loading ${request.part.exportName}`;
    case "tool":
      return parts[request.part]?.exportName ?? "a tool";
    case "hook":
      return `${parts[request.part]?.exportName}.${request.hook}`;
    default:
      return "after the rollout";
  }
}
