import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { HookName } from "../../src/agent/hooks.ts";
import { PartError, type PartLoader, type ProcessorPart, type ToolPart } from "../../src/agent/parts.ts";
import { Processor } from "../../src/agent/processors/define.ts";
import { type ToolContext, tool } from "../../src/agent/tools/define.ts";
import type { AuthoredPart } from "../../src/config/harness.ts";
import { createLoader } from "../../src/sandbox/worker/load.ts";
import {
  buildProcessor,
  describeProcessor,
  findProcessor,
  runHook,
} from "../../src/sandbox/worker/processors.ts";
import { describeTool, findTool, runTool } from "../../src/sandbox/worker/tools.ts";

const modules: Readonly<Record<string, unknown>> = {
  "lorimer/tools": { tool },
  "lorimer/processors": { Processor },
  zod: { z },
};
const load = createLoader((name) => modules[String(name)]);

/** A processor of authored code, built in this process by the code that a worker builds it with. */
export function processorInProcess(part: AuthoredPart): ProcessorPart {
  const found = findProcessor(load(part), part.exportName);
  const processor = buildProcessor(found, part.options);
  const { order, group, after, hooks } = describeProcessor(found, processor);
  return {
    name: part.exportName,
    order,
    group,
    after,
    hooks: new Set<HookName>(hooks),
    run: async (hook, event) => JSON.parse(await runHook(processor, hook, event)) as unknown[],
  };
}

/** A workspace and no resources. Not the worker's own context: that one freezes what this process shares. */
function contextOf(workspace: string): ToolContext {
  return {
    resources: [],
    resource: () => Promise.reject(new Error("there are no resources")),
    rank: () => Promise.reject(new Error("there are no resources")),
    workspace: {
      read: async (path) => readFileSync(join(workspace, path), "utf8"),
      write: async (path, text) => writeFileSync(join(workspace, path), text),
      list: async () => readdirSync(workspace).sort(),
    },
  };
}

/** Opens trusted authored code without a fence; `ran` gets the name of every tool that really runs. */
export function inProcessLoader({ ran = [] }: { ran?: string[] } = {}): PartLoader {
  return {
    async open(parts) {
      const workspace = mkdtempSync(join(tmpdir(), "lorimer-workspace-"));
      const context = contextOf(workspace);
      const toolPart = (part: AuthoredPart): ToolPart => {
        const found = findTool(load(part), part.exportName);
        return {
          schema: describeTool(found, part.exportName),
          run: (input) => {
            ran.push(part.exportName);
            return runTool(found, part.exportName, { input, context });
          },
        };
      };
      try {
        return {
          tools: parts.filter(({ kind }) => kind === "tool").map(toolPart),
          processors: parts.filter(({ kind }) => kind === "processor").map(processorInProcess),
          workspace,
          close: async () => {
            rmSync(workspace, { recursive: true, force: true });
            return [];
          },
        };
      } catch (error) {
        rmSync(workspace, { recursive: true, force: true });
        throw new PartError(parts[0]?.file ?? "", String(error));
      }
    },
  };
}
