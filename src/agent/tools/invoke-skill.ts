import type { Skill } from "../../config/harness.ts";
import type { ToolPart } from "../parts.ts";

/** The tool that loads a skill's text; present when the harness has skills. */
export function invokeSkillTool(skills: readonly Skill[]): ToolPart {
  return {
    schema: {
      name: "invoke_skill",
      description: "Load the full instructions of one of the skills listed in the prompt.",
      inputSchema: {
        type: "object",
        properties: { name: { type: "string", description: "The skill's name" } },
        required: ["name"],
      },
    },
    async run({ name }) {
      const skill = skills.find((candidate) => candidate.name === name);
      if (skill) return { result: skill.text || `[the skill ${skill.name} has no text]`, isError: false };
      const names = skills.map((candidate) => candidate.name).join(", ");
      return {
        result: `[invoke_skill failed: no skill ${JSON.stringify(name)}; skills: ${names}]`,
        isError: true,
      };
    },
  };
}
