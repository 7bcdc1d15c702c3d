import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The folder of lorimer's own package.json, whether this runs from src/ or dist/. */
export const packageRoot = fileURLToPath(new URL("../../", import.meta.url));

const manifest = JSON.parse(readFileSync(`${packageRoot}package.json`, "utf8")) as { version: string };

export const packageVersion = manifest.version;
