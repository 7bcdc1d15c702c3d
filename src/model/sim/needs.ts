import type { ToolSchema } from "../../trace/messages.ts";

const likeness =
  /\b(?:similar|similarity|likeness|alike|nearest|closest|comparable|compare|resembl\w*|most like)\b/i;
const records = /\b(?:records?|examples?|cases?|history|precedents?|entries|items|past)\b/i;

/** The tool, if any, whose description and schema say that it finds past records like a given text. */
export function comparingTool(tools: readonly ToolSchema[]): ToolSchema | undefined {
  return tools.find(
    (tool) =>
      likeness.test(tool.description) && records.test(tool.description) && onlyTextField(tool) !== undefined,
  );
}

/** The one required field of a tool, when it is a free text: nothing else could be filled in. */
function onlyTextField(tool: ToolSchema): string | undefined {
  const { required, properties } = fieldsOf(tool);
  const [name, ...others] = required;
  if (name === undefined || others.length > 0) return undefined;
  const { type, enum: choices, format } = properties[name] ?? {};
  return type === "string" && choices === undefined && format === undefined ? name : undefined;
}

/** An input for a tool: texts get the start of the item, choices their first value, numbers the least allowed. */
export function fillInput(tool: ToolSchema, item: string, name?: string): Record<string, unknown> {
  const { required, properties } = fieldsOf(tool);
  return Object.fromEntries(
    required.map((field) => {
      const { type, enum: choices, minimum } = properties[field] ?? {};
      if (Array.isArray(choices)) return [field, choices[0]];
      if (type === "number" || type === "integer") return [field, typeof minimum === "number" ? minimum : 1];
      if (type === "boolean") return [field, true];
      return [field, name ?? item.slice(0, queryChars)];
    }),
  );
}

/** How much of the item the simulated agent hands to a tool. */
const queryChars = 600;

function fieldsOf({ inputSchema }: ToolSchema) {
  const { required, properties } = inputSchema;
  return {
    required: Array.isArray(required) ? required.map(String) : [],
    properties: (properties ?? {}) as Record<string, Record<string, unknown>>,
  };
}
