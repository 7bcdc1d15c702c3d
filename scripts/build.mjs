// Compiles src/ with the native compiler and bundles the one file that runs inside the fence.
import { execFileSync } from "node:child_process";
import { cpSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));
const tsc = `${root}/node_modules/typescript/bin/tsc`;

rmSync(`${root}/dist`, { recursive: true, force: true });
await build({
  entryPoints: [`${root}/src/sandbox/worker/main.ts`],
  outfile: `${root}/dist/sandbox/worker.cjs`,
  bundle: true,
  platform: "node",
  target: "node20",
  format: "cjs",
  logLevel: "warning",
});
// Stock parts are shipped as the source that they are: a candidate gets a copy of it.
cpSync(`${root}/src/proposers/mechanic/parts`, `${root}/dist/proposers/mechanic/parts`, { recursive: true });
execFileSync(process.execPath, [tsc, "-p", `${root}/tsconfig.build.json`], { stdio: "inherit" });
