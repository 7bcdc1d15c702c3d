import type { Processor } from "../../agent/processors/define.ts";
import type { Tool, ToolContext } from "../../agent/tools/define.ts";
import type { LoadedPart, WorkerRequest } from "../protocol.ts";
import type { Exports } from "./load.ts";
import { buildProcessor, describeProcessor, findProcessor, runHook } from "./processors.ts";
import { describeThrown } from "./thrown.ts";
import { describeTool, findTool, runTool } from "./tools.ts";

type Part = { kind: "tool"; name: string; tool: Tool } | { kind: "processor"; processor: Processor };

/** An answer as text of a JSON reply's field, or authored code's fault. */
export type Answer = { value: string } | { fault: string };

/** The parts of the rollout at hand, by the number they were loaded under. */
export class Rollout {
  readonly #load: (part: LoadedPart) => Exports;
  readonly #context: ToolContext;
  #parts: Part[] = [];

  constructor(load: (part: LoadedPart) => Exports, context: ToolContext) {
    this.#load = load;
    this.#context = context;
  }

  async answer(request: WorkerRequest): Promise<Answer> {
    try {
      switch (request.op) {
        case "load":
          return { value: this.#open(request.part) };
        case "tool":
          return { value: await this.#runTool(request) };
        case "hook":
          return { value: await this.#runHook(request) };
        default:
          return { fault: "unknown request" };
      }
    } catch (thrown) {
      return { fault: describeThrown(thrown) };
    }
  }

  forget(): void {
    this.#parts = [];
  }

  #open(part: LoadedPart): string {
    const exports = this.#load(part);
    if (part.kind === "tool") {
      const tool = findTool(exports, part.exportName);
      const schema = describeTool(tool, part.exportName);
      this.#parts.push({ kind: "tool", name: part.exportName, tool });
      return JSON.stringify(schema);
    }
    const found = findProcessor(exports, part.exportName);
    const processor = buildProcessor(found, part.options);
    const description = describeProcessor(found, processor);
    this.#parts.push({ kind: "processor", processor });
    return JSON.stringify(description);
  }

  async #runTool({ part, input }: WorkerRequest & { op: "tool" }): Promise<string> {
    const found = this.#parts[part];
    if (found?.kind !== "tool") throw new Error("no such tool");
    return JSON.stringify(await runTool(found.tool, found.name, { input, context: this.#context }));
  }

  async #runHook({ part, hook, event }: WorkerRequest & { op: "hook" }): Promise<string> {
    const found = this.#parts[part];
    if (found?.kind !== "processor") throw new Error("no such processor");
    return runHook(found.processor, hook, event);
  }
}
