/** A JSON Schema as far as inputs are made from it. */
interface InputSchema {
  type?: string | string[];
  properties?: Record<string, InputSchema>;
  required?: string[];
  enum?: unknown[];
  const?: unknown;
  anyOf?: InputSchema[];
  oneOf?: InputSchema[];
  items?: InputSchema;
  minItems?: number;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  default?: unknown;
}

/** A valid input of a tool, its free texts filled with `text`. */
export function validInput(schema: Record<string, unknown>, text: string): Record<string, unknown> {
  return valueFor({ ...schema, type: "object" } as InputSchema, text) as Record<string, unknown>;
}

function valueFor(schema: InputSchema, text: string): unknown {
  if ("const" in schema) return schema.const;
  if (schema.enum !== undefined) return schema.enum[0];
  if (schema.default !== undefined) return schema.default;
  const [choice] = schema.anyOf ?? schema.oneOf ?? [];
  if (choice !== undefined) return valueFor(choice, text);
  switch (Array.isArray(schema.type) ? schema.type[0] : schema.type) {
    case "string":
      return text.slice(0, schema.maxLength).padEnd(schema.minLength ?? 0, "x");
    case "integer":
    case "number":
      return numberFor(schema);
    case "boolean":
      return false;
    case "array":
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () =>
        valueFor(schema.items ?? { type: "string" }, text),
      );
    case "null":
      return null;
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

/** 1 where that is allowed: a schema of whole numbers states the largest there are as its limits. */
function numberFor({ minimum = 1, maximum = 1 }: InputSchema): number {
  return Math.max(minimum, Math.min(1, maximum));
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
  const all = (value: unknown) => Object.fromEntries(names.map((name) => [name, value]));
  return [
    ...hostileTexts.map((text) => validInput(schema, text)),
    {},
    all({ nested: [null] }),
    all(""),
    { ...validInput(schema, "x"), unknown_field: 1 },
  ];
}
