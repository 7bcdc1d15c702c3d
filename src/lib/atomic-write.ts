import { randomBytes } from "node:crypto";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

interface WriteOptions {
  /** False for what can be made again: not forced to the disk before it is renamed. */
  durable?: boolean;
}

/** Writes a whole file or leaves the old one: a reader never sees half of it. */
export function writeFileAtomic(
  path: string,
  data: string | Uint8Array,
  { durable = true }: WriteOptions = {},
): void {
  mkdirSync(dirname(path), { recursive: true });
  const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
  try {
    writeFileSync(temporary, data, { flush: durable });
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
