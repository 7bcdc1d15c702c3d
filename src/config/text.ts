import { readFileSync, statSync } from "node:fs";
import { LorimerError, systemCode } from "../lib/errors.ts";

/** Authored files and YAML files above this are refused: nothing that a harness needs is as big. */
export const maxFileBytes = 256 * 1024;

/** Line feeds only, so that a checkout with other line ends is the same text. */
export function normaliseEol(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/**
 * UTF-8 text of `bytes`, without byte order mark, end-of-line normalised.
 * @throws LorimerError `config` with line and column of the first byte that is not UTF-8.
 */
export function decodeUtf8(bytes: Uint8Array, path: string): string {
  const valid = validPrefix(bytes);
  if (valid !== undefined) {
    const lines = normaliseEol(valid).split("\n");
    const column = [...(lines.at(-1) ?? "")].length + 1;
    throw new LorimerError("config", `${path}:${lines.length}:${column}: a byte that is not UTF-8`, {
      hint: "Save the file as UTF-8.",
    });
  }
  return normaliseEol(new TextDecoder().decode(bytes));
}

/** The text before the first bad byte, or undefined when all of it is good. */
function validPrefix(bytes: Uint8Array): string | undefined {
  if (decodes(bytes, false)) return undefined;
  let good = 0;
  let bad = bytes.length + 1;
  while (bad - good > 1) {
    const middle = (good + bad) >> 1;
    if (decodes(bytes.subarray(0, middle), true)) good = middle;
    else bad = middle;
  }
  return new TextDecoder().decode(bytes.subarray(0, good), { stream: true });
}

function decodes(bytes: Uint8Array, stream: boolean): boolean {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream });
    return true;
  } catch {
    return false;
  }
}

/** @throws LorimerError `missing` when there is no such file, `config` when it is no plain file, too big or unreadable. */
export function readSmallFile(path: string): Uint8Array {
  try {
    const stat = statSync(path);
    if (!stat.isFile())
      throw new LorimerError("config", `${path}: not a plain file`, { hint: "Name a file." });
    if (stat.size > maxFileBytes) {
      throw new LorimerError("config", `${path}: ${stat.size} bytes, above the ${maxFileBytes} allowed`, {
        hint: "Move data to the recipe's resources.",
      });
    }
    return readFileSync(path);
  } catch (error) {
    if (error instanceof LorimerError) throw error;
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR") {
      throw new LorimerError("missing", `${path}: no such file`, { hint: "Check the path.", cause: error });
    }
    throw new LorimerError("config", `${path}: cannot be read (${code ?? "unknown reason"})`, {
      cause: error,
    });
  }
}
