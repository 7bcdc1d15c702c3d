import { transformSync } from "esbuild";
import { LorimerError } from "../lib/errors.ts";
import { sha256 } from "../lib/hash.ts";
import { normaliseEol } from "./text.ts";

const strict = '"use strict";';
const transformed = new Map<string, string>();

/**
 * Authored TypeScript as one strict CommonJS text: types, comments and white space gone, nothing looked up on disk,
 * nothing bundled. Sources that differ only in comments, white space or file name give the same text.
 * @throws LorimerError `config`: `file:line:column: what`.
 */
export function transformPart(source: string, options: { file: string }): string {
  const text = normaliseEol(source);
  const key = sha256(text);
  const known = transformed.get(key);
  if (known !== undefined) return known;
  const code = transform(text, options.file);
  transformed.set(key, code);
  return code;
}

function transform(source: string, file: string): string {
  try {
    const result = transformSync(source, {
      loader: "ts",
      format: "cjs",
      platform: "node",
      target: "node20",
      charset: "utf8",
      // A fixed name: the real one would show in the output, and a renamed file would be another behaviour.
      sourcefile: "part.ts",
      // Given in full so that no tsconfig.json of the author's or the user's has a say.
      tsconfigRaw: { compilerOptions: { useDefineForClassFields: true, verbatimModuleSyntax: true } },
      minifyWhitespace: true,
      legalComments: "none",
      sourcemap: false,
      logLevel: "silent",
      // Left as it is, `import.meta` would be an empty object, silently.
      logOverride: { "empty-import-meta": "error" },
    });
    // Again, because a dropped comment of the `/*! */` kind leaves a semicolon that a printer of plain code does not.
    const { code } = transformSync(result.code, {
      loader: "js",
      target: "node20",
      charset: "utf8",
      tsconfigRaw: {},
      minifyWhitespace: true,
      logLevel: "silent",
    });
    return code.startsWith(strict) ? code : strict + code;
  } catch (error) {
    throw refused(error, file);
  }
}

interface BuildMessage {
  text: string;
  location: { line: number; column: number } | null;
}

function refused(error: unknown, file: string): unknown {
  const [first] = (error as { errors?: BuildMessage[] }).errors ?? [];
  if (first === undefined) return error;
  const { line, column } = first.location ?? { line: 1, column: 0 };
  return new LorimerError("config", `${file}:${line}:${column + 1}: ${inPlainWords(first.text)}`, {
    hint: "Correct the file; it is TypeScript with `import` and `export`, and needs no build of its own.",
  });
}

function inPlainWords(text: string): string {
  if (text.startsWith("Top-level await"))
    return "top-level await does not exist here: await inside `run` or a hook";
  if (text.includes("import.meta"))
    return "import.meta does not exist here: files come from `context.resource`";
  return text;
}
