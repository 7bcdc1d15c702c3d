/** A JSON Schema as far as inputs are made from it. */
interface InputSchema {
  type?: string;
  properties?: Record<string, InputSchema>;
  required?: string[];
  enum?: unknown[];
  items?: InputSchema;
  minLength?: number;
  minimum?: number;
  default?: unknown;
}

/** A valid input of a tool, its free texts filled with `text`. */
export function validInput(schema: Record<string, unknown>, text: string): Record<string, unknown> {
  return valueFor(schema as InputSchema, text) as Record<string, unknown>;
}

function valueFor(schema: InputSchema, text: string): unknown {
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  switch (schema.type) {
    case "string":
      return text.padEnd(schema.minLength ?? 0, "x");
    case "integer":
    case "number":
      return schema.minimum ?? 1;
    case "boolean":
      return false;
    case "array":
      return [valueFor(schema.items ?? { type: "string" }, text)];
    default: {
      const required = schema.required ?? Object.keys(schema.properties ?? {});
      const fields = required.map((name) => [
        name,
        valueFor(schema.properties?.[name] ?? { type: "string" }, text),
      ]);
      return Object.fromEntries(fields);
    }
  }
}

/** Texts that real inputs turn into sooner or later. */
const hostileTexts = [
  "",
  " ",
  "\u0000",
  "\u202Eabc",
  "é".repeat(50),
  "x".repeat(100_000),
  "(a+)+$",
  "../../etc/passwd",
  "{{7*7}}",
];

/** Inputs that a tool must survive: hostile texts, missing fields, wrong types, too much. */
export function hostileInputs(schema: Record<string, unknown>): Record<string, unknown>[] {
  const names = Object.keys((schema as InputSchema).properties ?? {});
  const wrongType = Object.fromEntries(names.map((name) => [name, { nested: [null] }]));
  return [
    ...hostileTexts.map((text) => validInput(schema, text)),
    {},
    wrongType,
    { ...validInput(schema, "x"), unknown_field: 1 },
  ];
}
