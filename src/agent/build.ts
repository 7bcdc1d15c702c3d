import type { LoadedHarness } from "../config/harness.ts";
import { allowed, type Harness, orderProcessors, skillLines } from "./harness.ts";
import { PartError, type PartLoader } from "./parts.ts";
import { builtinTools, type FileRoots } from "./tools/files.ts";
import { invokeSkillTool } from "./tools/invoke-skill.ts";

export interface HarnessSources {
  loader: PartLoader;
  /** Folder of the recipe's resources. */
  resources: string | undefined;
  /** The recipe's allowlist; `*` allows every tool of the harness. */
  allowlist: readonly string[];
}

export interface OpenHarness {
  harness: Harness;
  /** Ends the rollout in the fence; returns what authored code left behind. */
  close(): Promise<string[]>;
}

/**
 * Opens a loaded config for one rollout: authored parts behind the fence, built-in ones here.
 * @throws PartError when a part cannot be built
 */
export async function openHarness(loaded: LoadedHarness, sources: HarnessSources): Promise<OpenHarness> {
  const { config, prompt, skills } = loaded;
  const parts = await sources.loader.open(loaded.parts);
  try {
    const roots: FileRoots = { workspace: parts.workspace, resources: sources.resources };
    const skillTools = skills.length > 0 ? [invokeSkillTool(skills)] : [];
    const tools = [...builtinTools(config.tools.builtin, roots), ...parts.tools, ...skillTools];
    const harness: Harness = {
      systemPrompt: prompt.trimEnd() + skillLines(skills),
      tools: new Map(tools.map((tool) => [tool.schema.name, tool])),
      processors: orderProcessors(parts.processors),
      limits: config.limits,
      allowlist: allowed(sources.allowlist, config.tools.allowlist),
    };
    if (harness.tools.size < tools.length) throw new PartError("config.yaml", "two tools have the same name");
    return { harness, close: () => parts.close() };
  } catch (error) {
    await parts.close();
    throw error;
  }
}
