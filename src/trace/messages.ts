import { z } from "zod";

export const toolCallSchema = z.strictObject({
  id: z.string().describe("Unique within the rollout; its result carries the same id"),
  name: z.string().describe("The tool that the model named, which need not exist"),
  input: z.record(z.string(), z.unknown()).describe("The arguments, parsed"),
});

export const messageSchema = z.discriminatedUnion("role", [
  z.strictObject({ role: z.literal("system"), content: z.string() }),
  z.strictObject({ role: z.literal("user"), content: z.string() }),
  z.strictObject({
    role: z.literal("assistant"),
    content: z.string(),
    toolCalls: z.array(toolCallSchema).optional().describe("Absent when the model called nothing"),
  }),
  z.strictObject({
    role: z.literal("tool"),
    toolCallId: z.string().describe("The call that this is the one result of"),
    name: z.string(),
    content: z.string(),
    isError: z.boolean().optional(),
  }),
]);

export const toolSchemaSchema = z.strictObject({
  name: z.string(),
  description: z.string().describe("Part of the prompt: what the model knows of the tool"),
  inputSchema: z.record(z.string(), z.unknown()).describe("JSON Schema of the input object"),
});

export type ToolCall = z.infer<typeof toolCallSchema>;
/** The one canonical form of a message; every provider's own form is translated at the model client. */
export type Message = z.infer<typeof messageSchema>;
export type ToolSchema = z.infer<typeof toolSchemaSchema>;
