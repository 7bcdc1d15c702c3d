import { z } from "zod";
import type { ToolOutcome } from "../../agent/parts.ts";
import { isTool, type Tool, type ToolContext } from "../../agent/tools/define.ts";
import type { ToolSchema } from "../../trace/messages.ts";
import { maxResultBytes } from "../protocol.ts";
import type { Exports } from "./load.ts";
import { describeThrown } from "./thrown.ts";

const toolName = /^[a-zA-Z_][a-zA-Z0-9_]{0,63}$/;

/** The one tool of a file, which must be the export that the config names. */
export function findTool(exports: Exports, exportName: string): Tool {
  const names = Object.keys(exports).filter((name) => isTool(exports[name]));
  const found = exports[exportName];
  if (!isTool(found)) throw new Error(missing(exportName, names));
  if (names.length > 1) throw new Error(`exports ${names.length} tools (${names.join(", ")}): one a file`);
  if (!toolName.test(exportName)) throw new Error(`"${exportName}" is no name that a model can call`);
  return found;
}

function missing(exportName: string, names: string[]): string {
  const others = names.length === 0 ? "exports no tool" : `exports the tool ${names.join(", ")}`;
  return `has no tool named ${exportName}: it ${others}`;
}

/** What the model is told of the tool. */
export function describeTool({ description, input, run }: Tool, name: string): ToolSchema {
  if (typeof description !== "string" || description.trim() === "")
    throw new Error("its description is empty");
  if (typeof run !== "function") throw new Error("its run is no function");
  if (!(input instanceof z.ZodObject)) throw new Error("its input must be a z.object({ … })");
  const { $schema: _, ...inputSchema } = z.toJSONSchema(input, { io: "input" });
  return { name, description, inputSchema };
}

/** Runs the tool; all that can go wrong in it becomes an outcome. */
export async function runTool(
  tool: Tool,
  name: string,
  { input, context }: { input: Record<string, unknown>; context: ToolContext },
): Promise<ToolOutcome> {
  const failed = (reason: string) => ({ result: `[${name} failed: ${reason}]`, isError: true });
  try {
    const parsed = await tool.input.safeParseAsync(input);
    if (!parsed.success) return failed(wrongInput(parsed.error));
    const result = asText(await tool.run(parsed.data, context));
    if (result === undefined || result === "") return failed("returned nothing");
    if (Buffer.byteLength(result) > maxResultBytes)
      return failed(`returned more than ${maxResultBytes} bytes`);
    return { result, isError: result.startsWith(`[${name} failed`) };
  } catch (thrown) {
    return failed(describeThrown(thrown));
  }
}

function asText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === "string" ? value : JSON.stringify(value);
}

function wrongInput({ issues }: z.ZodError): string {
  const shown = issues.slice(0, 5).map(({ path, message }) => {
    return `input${path.map((key) => `.${String(key)}`).join("")}: ${message}`;
  });
  return shown.join("; ");
}
