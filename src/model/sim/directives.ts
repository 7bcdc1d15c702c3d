import type { ToolSchema } from "../../trace/messages.ts";
import { anyOption, type Decision } from "./decision.ts";

/** What the instructions ask for, by meaning. `said` counts the messages that say it: a reminder is a second chance. */
export interface Directives {
  /** The form of the answer, with `<option>` where the choice goes. */
  format: { template: string; said: number } | undefined;
  /** Nothing but the answer is wanted. */
  brief: boolean;
  /** Tools that must be called before answering, in order; a name may be that of no tool. */
  calls: { name: string; skill: string | undefined; said: number }[];
  /** Keywords that settle the choice. */
  rules: { keyword: string; option: string }[];
  /** The agent is told to stop calling tools and answer. */
  finish: boolean;
}

const answering =
  /\b(?:end|finish|conclude|close|final|last|answer|reply|respond|response|output|write|state|give|print|return)/i;
const reminding =
  /\b(?:that|the (?:required|requested|right|asked)) (?:form|format)\b|\b(?:form|format) that was asked\b/i;
const brevity =
  /\b(?:only|nothing else|no other (?:text|words)|without (?:explanation|comment)|just the (?:answer|line))\b/i;
const calling = /\b(?:call|use|invoke|consult|run|query|load|try)(?:ed|d|ing)?\b/i;
const requiring =
  /\b(?:before|first|always|must|have to|required?|prior|not (?:yet )?called|haven't|never called)\b/i;
const stopping =
  /\bno (?:more )?tools?\b|\bstop calling\b|\bwithout (?:calling|using) (?:any )?tools?\b|\banswer with what you have\b/i;
const forbidding = /\b(?:do not|don't|avoid|never(?! called))\b/i;

export function readDirectives(
  instructions: readonly string[],
  decision: Decision | undefined,
  tools: readonly ToolSchema[],
): Directives {
  const found: Directives = { format: undefined, brief: false, calls: [], rules: [], finish: false };
  for (const text of instructions) {
    const sentences = sentencesOf(text);
    readFormat(found, sentences, decision);
    readCalls(found, sentences, tools);
    found.finish ||= sentences.some((sentence) => stopping.test(sentence) && !forbidding.test(sentence));
    if (decision) found.rules.push(...sentences.flatMap((sentence) => ruleOf(sentence, decision) ?? []));
  }
  return found;
}

/** Lines and sentences; what a line announces with a colon belongs to it. */
function sentencesOf(text: string): string[] {
  return text
    .replace(/:[ \t]*\n\s*(?:```\w*\n)?\s*(?=\S)/g, ": ")
    .split(/\n+|(?<=[.!?])\s+(?=[A-Z])/)
    .filter((sentence) => sentence.trim() !== "");
}

function readFormat(found: Directives, sentences: readonly string[], decision: Decision | undefined): void {
  const asked = sentences.filter((sentence) => answering.test(sentence) && !isRule(sentence));
  const template = asked
    .map((sentence) => templateOf(sentence, decision))
    .findLast((form) => form !== undefined);
  const reminded = found.format !== undefined && sentences.some((sentence) => reminding.test(sentence));
  if (template !== undefined || reminded) {
    found.format = {
      template: template ?? found.format?.template ?? "",
      said: (found.format?.said ?? 0) + 1,
    };
    found.brief ||= sentences.some((sentence) => brevity.test(sentence));
  }
}

/** The form that a sentence shows: quoted with a placeholder or an option in it, or `WORD <placeholder>` unquoted. */
function templateOf(sentence: string, decision: Decision | undefined): string | undefined {
  const quoted = /`([^`]+)`|“([^”]+)”|"([^"]+)"|(?<!\w)'([^']+)'(?!\w)/g;
  const shown = [...sentence.matchAll(quoted)].map(
    (match) => match.slice(1).find((group) => group !== undefined) ?? "",
  );
  const unquoted = /(?:\b[A-Z][A-Z_]+\b[ :=-]*)+(?:<[^<>\n]+>|\{[^{}\n]+\}|\[[^[\]\n]+\])/.exec(
    sentence,
  )?.[0];
  const option = decision && new RegExp(`\\b${anyOption(decision)}\\b`, "i");
  const loose =
    decision && new RegExp(`(?:\\b[A-Z][A-Z_]+\\b[ :=-]+)+${anyOption(decision)}\\b`).exec(sentence)?.[0];
  const candidates = [...shown, unquoted, loose].filter((form) => form !== undefined);
  const form =
    candidates.find((text) => placeholder.test(text)) ?? candidates.find((text) => option?.test(text));
  if (form === undefined) return undefined;
  return placeholder.test(form) || !option ? form : form.replace(option, "<option>");
}

const placeholder = /(?<!\w)(?:<[\w |/-]+>|\{[\w |/-]+\}|\[[\w |/-]+\])(?!\w)/;

/** A form with the choice put in; a placeholder named after the decision or the reason gets that. */
export function fillTemplate(template: string, decision: Decision, option: string): string {
  return template.replace(new RegExp(placeholder, "g"), (mark) => {
    const name = mark.slice(1, -1).toLowerCase();
    if (/\b(?:reason|why|because)\b/.test(name)) return "the closest records";
    if (
      /\b(?:decision|field)\b/.test(name) &&
      /option|choice|value|answer/i.test(template.replace(mark, ""))
    ) {
      return decision.name.toUpperCase();
    }
    return option;
  });
}

function readCalls(found: Directives, sentences: readonly string[], tools: readonly ToolSchema[]): void {
  for (const sentence of sentences) {
    if (!calling.test(sentence) || !requiring.test(sentence) || forbidding.test(sentence)) continue;
    const quoted = [...sentence.matchAll(/[`"']([A-Za-z][\w-]*)[`"']/g)].map((match) => match[1] ?? "");
    const named = tools.find(({ name }) => new RegExp(`\\b${name}\\b`).test(sentence))?.name;
    const skill = /\bskill\b/i.test(sentence) ? quoted.find((word) => word !== named) : undefined;
    const loader = skill === undefined ? undefined : tools.find(({ name }) => /skill/i.test(name))?.name;
    const name = named ?? loader ?? quoted.find((word) => /_|[a-z][A-Z]/.test(word));
    if (name === undefined) continue;
    const known = found.calls.find((call) => call.name === name && call.skill === skill);
    if (known) known.said++;
    else found.calls.push({ name, skill, said: 1 });
  }
}

function isRule(sentence: string): boolean {
  return /\b(?:if|when|whenever|where)\b.{0,60}\b(?:mention|contain|include|sa[yi]|hold)/i.test(sentence);
}

/** `If it mentions "x", it is junk`. */
function ruleOf(sentence: string, decision: Decision): { keyword: string; option: string } | undefined {
  if (!isRule(sentence)) return undefined;
  const [whole, keyword] = /["“'`]([^"”'`]{2,60})["”'`]/.exec(sentence) ?? [];
  if (whole === undefined || keyword === undefined) return undefined;
  const conclusion = sentence.slice(sentence.indexOf(whole) + whole.length);
  const option = new RegExp(`\\b${anyOption(decision)}\\b`).exec(conclusion)?.[0];
  return option === undefined ? undefined : { keyword: keyword.toLowerCase(), option };
}
