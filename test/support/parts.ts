import { transformSync } from "esbuild";
import type { AuthoredPart } from "../../src/config/harness.ts";
import { sha256 } from "../../src/lib/hash.ts";

const fileName = { tool: "tools/part.ts", processor: "processors/part.ts" };

/** An authored part of TypeScript source, as the config loader would make it. */
export function authored(
  kind: AuthoredPart["kind"],
  source: string,
  exportName: string,
  options: Record<string, unknown> = {},
): AuthoredPart {
  const { code } = transformSync(source, { loader: "ts", format: "cjs", platform: "node", target: "node20" });
  return {
    kind,
    file: fileName[kind],
    exportName,
    code,
    codeHash: sha256(code),
    sourceHash: sha256(source),
    options,
  };
}

/** A tool whose run has `body`; it may use `input`, `context`, `z` and what `top` declares. */
export function toolOf(body: string, { name = "probe", input = "{}", top = "" } = {}): AuthoredPart {
  const source = `
    import { tool } from "lorimer/tools";
    import { z } from "zod";
    ${top}
    export const ${name} = tool({
      description: "A part under test.",
      input: z.object(${input}),
      async run(input, context) { ${body} },
    });`;
  return authored("tool", source, name);
}

/** One tool whose run has the body that its input numbers: many cases, one generation, one warm worker. */
export function toolOfCases(bodies: readonly string[], { top = "" } = {}): AuthoredPart {
  const cases = bodies.map((body) => `async () => { ${body} }`).join(",\n");
  return toolOf(`const cases = [${cases}]; return cases[input.index]()`, {
    input: "{ index: z.number() }",
    top,
  });
}

/** A processor whose class has `members`. */
export function processorOf(members: string, options: Record<string, unknown> = {}): AuthoredPart {
  const source = `
    import { Processor } from "lorimer/processors";
    import { z } from "zod";
    export class Probe extends Processor { ${members} }`;
  return authored("processor", source, "Probe", options);
}
