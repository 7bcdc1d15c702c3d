import { afterAll } from "vitest";
import type { OpenParts, ToolOutcome } from "../../src/agent/parts.ts";
import type { AuthoredPart } from "../../src/config/harness.ts";
import { createFence, type Fence, type FenceOptions } from "../../src/sandbox/fence.ts";
import { type FenceLevel, fenceLevels, probeLevel } from "../../src/sandbox/levels.ts";

/** The levels to run a suite on; one that this machine lacks is named in a warning and left out. */
export async function levelsHere(): Promise<FenceLevel[]> {
  const here: FenceLevel[] = [];
  for (const level of fenceLevels) {
    const { works, reason } = await probeLevel(level);
    if (works) here.push(level);
    else console.warn(`SKIPPED: the fence level ${level} does not work here: ${reason}`);
  }
  return here;
}

/** A fence on one level, closed after the suite's tests. */
export async function fenceOn(level: FenceLevel, options: Partial<FenceOptions> = {}): Promise<Fence> {
  const fence = await createFence({ level, weakest: "weak", maxWorkers: 2, ...options });
  afterAll(() => fence.close());
  return fence;
}

/** One rollout that runs one tool once, and what it left behind. */
export async function runOnce(
  fence: Fence,
  part: AuthoredPart,
  input: Record<string, unknown> = {},
): Promise<ToolOutcome & { faults: string[] }> {
  const parts = await fence.loader.open([part]);
  const outcome = await toolIn(parts).run(input);
  return { ...outcome, faults: await parts.close() };
}

export function toolIn(parts: OpenParts) {
  const [tool] = parts.tools;
  if (tool === undefined) throw new Error("no tool was opened");
  return tool;
}

export function processorIn(parts: OpenParts) {
  const [processor] = parts.processors;
  if (processor === undefined) throw new Error("no processor was opened");
  return processor;
}
