import { messageOf } from "../../lib/errors.ts";

const maxLength = 2000;

/** The message of whatever authored code threw; its getters may throw as well. */
export function describeThrown(thrown: unknown): string {
  try {
    return String(messageOf(thrown)).slice(0, maxLength);
  } catch {
    return "something that cannot be shown";
  }
}
