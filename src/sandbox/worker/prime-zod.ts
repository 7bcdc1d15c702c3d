import { z } from "zod";

interface PrimedZod {
  /** Prototypes of the kinds in common use, complete: to be frozen. */
  prototypes: unknown[];
  /** After the freeze: whether a kind that is not among them was completed since, and so lies open to changes. */
  openedSince(): boolean;
}

/**
 * Zod completes a kind's prototype when the first of that kind is built, which it cannot do once that is frozen. So one
 * of each common kind is built here, and the rare ones (half a millisecond each) are watched instead.
 */
export function primeZod(): PrimedZod {
  const failure = z.strictObject({}).safeParse({ a: 1 }).error;
  const schemas = commonSchemas();
  const parts: unknown[] = [...schemas, ...schemas.flatMap((schema) => schema.def.checks ?? []), failure];
  let open: { prototype: object; size: number }[] | undefined;
  return {
    prototypes: parts.flatMap(prototypesOf),
    openedSince() {
      open ??= openPrototypes();
      return open.some(({ prototype, size }) => Reflect.ownKeys(prototype).length !== size);
    },
  };
}

function commonSchemas(): z.ZodType[] {
  const text = z.string();
  const number = z.number();
  return [
    ...[z.boolean(), z.null(), z.undefined(), z.any(), z.unknown(), z.never(), z.date(), z.literal("a")],
    ...[z.enum(["a"]), z.tuple([text]), z.record(text, text), z.object({ a: text }), z.union([text, number])],
    ...[z.discriminatedUnion("t", [z.object({ t: z.literal(1) })]), z.lazy(() => text)],
    ...[
      text.optional(),
      text.nullable(),
      text.default("a"),
      text.prefault("a"),
      text.catch("a"),
      text.readonly(),
    ],
    ...[
      text.transform((value) => value),
      text.pipe(text),
      text.refine(() => true),
      text.superRefine(() => {}),
    ],
    ...[text.min(1), text.max(9), text.length(1), text.regex(/a/), text.includes("a"), text.startsWith("a")],
    ...[text.endsWith("a"), text.trim(), text.toLowerCase(), z.email(), z.url(), z.uuid(), z.iso.date()],
    ...[
      z.iso.datetime(),
      number.gt(1),
      number.lt(9),
      number.multipleOf(2),
      z.int(),
      z.array(text).min(1).max(2),
    ],
  ];
}

/** Where state could be left: a kind's prototype, and that of its internals. */
function prototypesOf(part: unknown): unknown[] {
  const internals: unknown = (part as { _zod?: unknown })._zod;
  return [part, internals]
    .filter((value) => value !== undefined)
    .map((value) => Object.getPrototypeOf(value));
}

function openPrototypes(): { prototype: object; size: number }[] {
  return [...Object.entries(z), ...Object.entries(z.core)]
    .filter(([name]) => isKind(name))
    .map(([, kind]) => (kind as { prototype?: object }).prototype)
    .filter((prototype) => prototype !== undefined && !Object.isFrozen(prototype))
    .map((prototype) => ({
      prototype: prototype as object,
      size: Reflect.ownKeys(prototype as object).length,
    }));
}

/** Whether an export of zod's is the class of a kind: `ZodString`, `$ZodCheckRegex`. */
export function isKind(name: string): boolean {
  return /^[$_]?Zod/.test(name);
}
