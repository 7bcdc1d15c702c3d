import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { LorimerError } from "../../src/lib/errors.ts";

/** A new temporary folder with these files; `remove` takes it away. */
export function folderOf(files: Record<string, string | Uint8Array>): { dir: string; remove(): void } {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "lorimer-config-")));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), content);
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) };
}

/** The LorimerError that `action` throws. */
export function errorOf(action: () => unknown): LorimerError {
  try {
    action();
  } catch (error) {
    if (error instanceof LorimerError) return error;
    throw error;
  }
  throw new Error("nothing was thrown");
}
