import { describe, expect, it } from "vitest";
import { configSchemaNames, schemaOf } from "../../src/config/json-schema.ts";

describe("schemaOf", () => {
  it("gives a JSON Schema for each file, every field of the config described", () => {
    expect(configSchemaNames).toEqual(["candidate", "config", "needs", "recipe"]);
    for (const name of configSchemaNames) {
      expect(JSON.parse(JSON.stringify(schemaOf(name)))).toHaveProperty(
        "$schema",
        expect.stringContaining("2020-12"),
      );
    }
    const { properties, required } = schemaOf("config") as {
      properties: Record<string, unknown>;
      required: string[];
    };
    expect(required).toEqual(["prompt"]);
    expect(Object.keys(properties).sort()).toEqual(["limits", "processors", "prompt", "skills", "tools"]);
  });
});
