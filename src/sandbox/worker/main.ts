// The one file that runs inside the fence, beside authored code. Bundled to dist/sandbox/worker.cjs; its arguments are
// the workspace and, where there are resources, their folder.
import { createContext } from "./context.ts";
import { createLoader } from "./load.ts";
import { lockGlobals } from "./lock.ts";
import { createModules } from "./modules.ts";
import { Rollout } from "./rollout.ts";
import { describeThrown } from "./thrown.ts";
import { createWatch } from "./watch.ts";
import { createWire } from "./wire.ts";

const [workspace = "/workspace", resources] = process.argv.slice(2);
const exit = process.exit.bind(process);
const printError = console.error;
const permission = process.permission?.has("fs.write", "/") === false;
const wire = createWire();
const watch = createWatch();
const modules = createModules();
const rollout = new Rollout(
  createLoader(modules.require),
  createContext(resources === undefined ? { workspace } : { workspace, resources }),
);
const changedGlobals = lockGlobals({ ...watch.globals, console: quietConsole() });
const ready = JSON.stringify({ permission, frozen: Object.isFrozen(Array.prototype) });

/** Authored code's prints go nowhere: stdout is nobody's to read. */
function quietConsole(): Record<string, () => void> {
  const names = [
    "log",
    "info",
    "warn",
    "error",
    "debug",
    "trace",
    "dir",
    "table",
    "assert",
    "group",
    "groupEnd",
  ];
  return Object.fromEntries(names.map((name) => [name, () => {}]));
}

async function endRollout(): Promise<string> {
  rollout.forget();
  const left = await watch.drain();
  const worn = modules.reset();
  // Else RegExp.lastMatch would tell the next rollout what this one matched last.
  /^/.exec("");
  const faults = [...left, ...changedGlobals().map((name) => `changed a global: ${name}`)];
  return JSON.stringify({ faults, worn });
}

async function serve(): Promise<never> {
  for (;;) {
    const received = wire.receive();
    if (received === undefined) return exit(0);
    const { id, request } = received;
    if (request.op === "hello") wire.send(id, { value: ready });
    else if (request.op === "end") wire.send(id, { value: await endRollout() });
    else wire.send(id, await rollout.answer(request));
  }
}

watch.listen();
// The watch would take an error of our own for one of authored code's.
serve().catch((error: unknown) => {
  printError(describeThrown(error));
  exit(70);
});
