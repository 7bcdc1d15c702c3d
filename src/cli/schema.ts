import type { Command } from "commander";
import { z } from "zod";
import { harnessConfigSchema } from "../config/harness-schema.ts";
import { configSchemaNames, schemaOf } from "../config/json-schema.ts";
import { LorimerError } from "../lib/errors.ts";
import { ledgerRecordSchema } from "../store/ledger-records.ts";
import { runManifestSchema } from "../store/run-folder.ts";
import { traceEventSchema } from "../trace/events.ts";
import { toolSchemaSchema } from "../trace/messages.ts";
import type { CommandContext } from "./context.ts";

const others: Record<string, z.ZodType> = {
  tool: toolSchemaSchema,
  processor: harnessConfigSchema.shape.processors,
  event: traceEventSchema,
  ledger: ledgerRecordSchema,
  run: runManifestSchema,
};
const names = [...configSchemaNames, ...Object.keys(others)];

export function registerSchema(program: Command, context: CommandContext): void {
  program
    .command("schema")
    .description("JSON Schema of a file that lorimer reads or writes")
    .argument("<name>", names.join(", "))
    .action((name: string) => {
      const own = others[name];
      if (own) return context.terminal.json(z.toJSONSchema(own));
      const known = configSchemaNames.find((candidate) => candidate === name);
      if (known) return context.terminal.json(schemaOf(known));
      throw new LorimerError("usage", `there is no schema ${name}`, {
        hint: `Schemas: ${names.join(", ")}.`,
      });
    });
}
