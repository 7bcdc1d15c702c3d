import type { Terminal } from "./terminal.ts";

/** The first SIGINT or SIGTERM ends the run cleanly, after what is in flight; the second ends the process at once. */
export function interruptSignal(terminal: Terminal): { signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) process.exit(130);
    terminal.warn("stopping after what is in flight; once more stops at once");
    controller.abort();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  return {
    signal: controller.signal,
    release() {
      process.off("SIGINT", stop);
      process.off("SIGTERM", stop);
    },
  };
}
