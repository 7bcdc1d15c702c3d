import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { sha256 } from "../../lib/hash.ts";

const partsDir = fileURLToPath(new URL("./parts/", import.meta.url));

/** The source of a stock part. Parts know nothing of any recipe: what differs comes by options and by the context. */
export function stockPart(kind: "tools" | "processors", file: string): string {
  return readFileSync(`${partsDir}${kind}/${file}.ts`, "utf8").replaceAll("\r\n", "\n");
}

/** The source of every stock part. */
export function stockSources(): string[] {
  return (["tools", "processors"] as const).flatMap((kind) =>
    readdirSync(`${partsDir}${kind}`)
      .filter((name) => name.endsWith(".ts"))
      .sort()
      .map((name) => stockPart(kind, name.slice(0, -3))),
  );
}

/** Source hashes of every stock part: code that lorimer ships, which the weakest fence may run. */
export function stockHashes(): Set<string> {
  return new Set(stockSources().map(sha256));
}
