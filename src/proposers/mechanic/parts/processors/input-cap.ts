import { type BeforeModelEvent, Processor, type StepStartEvent } from "lorimer/processors";
import { z } from "zod";

type Options = { max_chars: number; strip_markup: boolean };
type Messages = StepStartEvent["messages"];

/** Beyond this nobody reads, and a pattern could take long. */
const longestRead = 50_000;
/** Room for the line that says how much was cut. */
const noteChars = 40;

/** Tags, style and script bodies, quoted-printable bytes and white space that carry no words. */
function stripMarkup(text: string): string {
  return decodeQuoted(text)
    .replace(/<(style|script)\b[\s\S]*?<\/\1>/gi, " ")
    .replace(/<[^<>]*>/g, " ")
    .replace(/&nbsp;/gi, " ")
    .replace(/[^\S\n]+/g, " ")
    .replace(/ ?\n[ \n]*/g, "\n");
}

/** Quoted-printable text ends its lines with `=`; in any other an equals sign before two digits is just that. */
function decodeQuoted(text: string): string {
  if ((text.match(/=\n/g) ?? []).length < 2) return text;
  return text.replace(/=\n/g, "").replace(/=([0-9A-F]{2})/g, (_match, hex: string) => {
    const code = Number.parseInt(hex, 16);
    return code < 32 || code === 127 ? " " : String.fromCharCode(code);
  });
}

/** A long input pushes all that follows it out of the model's reach: this strips its markup and cuts it. */
export class InputCap extends Processor<Options> {
  static override order = 12;
  static override group = "input-cap";
  static override options = z.object({
    max_chars: z.number().int().min(200).default(1500),
    strip_markup: z.boolean().default(true),
  });

  async *onStepStart(event: StepStartEvent) {
    yield* this.shorten(event);
  }

  async *onBeforeModel(event: BeforeModelEvent) {
    yield* this.shorten(event);
  }

  private *shorten<Event extends { messages: Messages }>(event: Event) {
    const tail = event.messages.at(-1);
    const content = tail?.role === "user" ? this.cut(tail.content) : undefined;
    if (tail?.role !== "user" || content === undefined || content === tail.content) {
      yield event;
      return;
    }
    yield { ...event, messages: [...event.messages.slice(0, -1), { ...tail, content }] };
    yield {
      type: "trigger",
      action: "shortened",
      detail: `${tail.content.length} to ${content.length} characters`,
    };
  }

  private cut(text: string): string {
    const { max_chars, strip_markup } = this.options;
    if (text.length <= max_chars) return text;
    const read = text.slice(0, longestRead);
    const plain = strip_markup ? stripMarkup(read) : read;
    if (plain.length <= max_chars && read === text) return plain;
    // With its note it fits, so that it is not cut again at the next hook; never half of a surrogate pair.
    const kept = plain.slice(0, max_chars - noteChars).replace(/[\ud800-\udbff]$/, "");
    return `${kept}\n[cut: ${plain.length - kept.length + text.length - read.length} more characters]`;
  }
}
