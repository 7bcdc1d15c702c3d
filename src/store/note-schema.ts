import { z } from "zod";
import { type NoteDraft, noteKinds } from "../config/candidate-schema.ts";
import { sha256 } from "../lib/hash.ts";
import { oneLine, plainText } from "../trace/plain-text.ts";

/** A typed request to a person; its text was written by a proposer and is data wherever it is shown. */
export const noteSchema = z.strictObject({
  id: z.string().describe("Hash of kind and ask: the same wish has the same id in every round"),
  kind: z.enum(noteKinds),
  ask: z.string(),
  why: z.string(),
  evidence: z.array(z.string()),
  blocking: z.boolean(),
  round: z.number().int().min(0).describe("When it was first asked"),
  status: z.enum(["open", "answered", "denied", "expired"]),
});
export type Note = z.infer<typeof noteSchema>;

/** The note that a proposer's draft becomes: cleaned, cut to size, named by what it asks for. */
export function noteFrom(draft: NoteDraft, round: number): Note {
  return {
    id: noteId(draft),
    kind: draft.kind,
    ask: oneLine(draft.ask, 500),
    why: plainText(draft.why, 2000),
    evidence: draft.evidence.slice(0, 20).map((item) => oneLine(item, 300)),
    blocking: draft.blocking,
    round,
    status: "open",
  };
}

/** Case, spacing and punctuation make no other wish of it. */
function noteId({ kind, ask }: NoteDraft): string {
  const words = ask
    .normalize("NFKC")
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [ask];
  return sha256(`${kind}\n${words.join(" ")}`).slice(0, 10);
}
