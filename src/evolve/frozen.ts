import { type Frozen, freeze } from "../checks/freeze.ts";
import { LorimerError } from "../lib/errors.ts";
import type { Candidate } from "./propose.ts";

/**
 * A candidate's files, as they were when its author stopped.
 * @throws LorimerError `infra` when something has changed them since: what would be measured is not what was checked
 */
export function frozenFiles({ id, dir, record }: Candidate): Frozen["files"] {
  const { frozen } = freeze(dir);
  if (frozen.hash === record.hash) return frozen.files;
  throw new LorimerError("infra", `candidate ${id} was changed after it was frozen: ${dir}`, {
    hint: "Put its files back, or start a new run; a change of your own is a new candidate.",
  });
}
