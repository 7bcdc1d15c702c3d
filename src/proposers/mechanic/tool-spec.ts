interface ToolSpec {
  name: string;
  capability: string;
  cls: string;
  inputs: { rollout: string; text: string }[];
  output: string;
  /** Name of the mode, and what the tool returns in it. */
  failureModes: [string, string][];
}

/** TOOL_SPEC.md in its five sections. */
export function renderToolSpec({ name, capability, cls, inputs, output, failureModes }: ToolSpec): string {
  return [
    `# TOOL_SPEC: ${name}`,
    "## Capability name",
    capability,
    "## Class, not single task",
    cls,
    "## Inputs the agent will pass",
    inputs.map(({ rollout, text }) => `- \`${text}\` (rollout ${rollout.slice(0, 12)})`).join("\n"),
    "## Output shape the caller needs",
    output,
    "## Failure modes",
    failureModes.map(([mode, result]) => `- ${mode}: ${result}`).join("\n"),
  ]
    .join("\n\n")
    .concat("\n");
}
