import type { Finding } from "../check.ts";
import { lineCounter } from "../source-tree.ts";
import type { LiteralCorpus } from "./corpus.ts";
import { FoldingLimit } from "./folding.ts";
import {
  distinctiveWords,
  emptyTally,
  findAnswers,
  findIdFragment,
  findIds,
  findPhrases,
  findUrls,
  type Match,
  memorisedWords,
  quotedIn,
  type WordTally,
} from "./matches.ts";
import { type Passage, passagesOf } from "./passages.ts";
import { wordsOf } from "./words.ts";

/** Never part of a harness: the brief, the specification and the findings may quote tasks. */
const notShipped = /^(?:_meta_scratch|\.lorimer|findings)\//;

/** A longer answer in a comment is no example any more. */
const shortAnswer = 12;
const mostFindings = 20;

const hints = {
  "task-id": "Write what holds for every task of this kind; a harness must not know which task it is on.",
  answer: "Derive the answer from the input; an answer that is written down helps on one task only.",
  url: "Use what addresses have in common, not one task's address.",
  phrase: "Describe the kind of text in your own words instead of quoting a task.",
  "rare-words": "Replace the list by a rule that does not name single tasks' words.",
  "too-complex": "Write long or deeply nested constant expressions as plain literals.",
  syntax: "Fix the syntax; what cannot be read is not accepted.",
} as const;
type Kind = keyof typeof hints;

/**
 * Looks for what a candidate could only know from single tasks, after constant folding, in code, prompts, skills,
 * YAML, data files and file names (`_meta_scratch/` is not shipped and not looked at). A file fails on
 *
 * - `task-id`: a task's id, or a piece of it that belongs to fewer than three ids; in a comment too;
 * - `answer`: a right answer of four characters or more that fewer than three tasks share and the recipe does not
 *   state; plain numbers (small, round, powers of two, years) do not count, and one ordinary word counts only as a whole
 *   constant or in quotation marks. In a comment a short one is a warning;
 * - `url`: an address or host of fewer than three tasks;
 * - `phrase`: four words in a row with a rare word among them, or eight without, that fewer than three tasks have
 *   (a warning in a comment);
 * - `rare-words`: many words that each only one or two tasks have, see {@link memorisedWords}; over the whole candidate too;
 * - `too-complex`, `syntax`: it could not be read.
 *
 * Not caught here, but by a held-out split or re-seeded tasks: answers that are computed or stored in a form that
 * folding cannot undo (a hash of the prompt as the key *and* an encrypted answer, loops, mutation), answers that many
 * tasks share, rare words that are hashed.
 */
export function checkLiterals({
  files,
  corpus,
}: {
  files: ReadonlyMap<string, string>;
  corpus: LiteralCorpus;
}): Finding[] {
  const whole = emptyTally();
  const findings: Finding[] = [];
  for (const file of [...files.keys()].sort()) {
    if (notShipped.test(file)) continue;
    findings.push(...checkFile(file, files.get(file) ?? "", { corpus, whole }));
  }
  if (findings.some(({ kind }) => kind === "rare-words")) return findings;
  return [...findings, ...rareWords(whole, corpus)];
}

function checkFile(
  file: string,
  text: string,
  { corpus, whole }: { corpus: LiteralCorpus; whole: WordTally },
): Finding[] {
  const report = reporter(file);
  const own = emptyTally();
  try {
    for (const passage of passagesOf(file, text)) checkPassage(passage, { corpus, report, own });
  } catch (error) {
    report.add(unreadable(error), { line: 1 });
  }
  for (const key of ["alone", "all"] as const)
    for (const [word, line] of own[key]) whole[key].set(word, line);
  return [...report.findings(), ...rareWords(own, corpus, file)];
}

function unreadable(error: unknown): { kind: Kind; message: string } {
  if (error instanceof SyntaxError)
    return { kind: "syntax", message: `it cannot be parsed: ${error.message}` };
  const limited =
    error instanceof FoldingLimit || (error instanceof RangeError && /call stack/i.test(error.message));
  if (!limited) throw error;
  return { kind: "too-complex", message: "its constant expressions are too large to work out" };
}

interface Report {
  add(what: { kind: Kind; message: string }, where: { line: number; warning?: boolean }): void;
  findings(): Finding[];
}

/** Collects a file's findings: each message once, and no flood. */
function reporter(file: string): Report {
  const found = new Map<string, Finding>();
  return {
    add({ kind, message }, { line, warning = false }) {
      const key = `${kind}: ${message}`;
      const known = found.get(key);
      if (known !== undefined && (known.warning === undefined || warning)) return;
      found.set(key, {
        kind,
        message,
        file,
        line,
        hint: hints[kind],
        ...(warning && { warning: true as const }),
      });
    },
    findings() {
      // Warnings last, so that a flood of them hides nothing.
      const all = [...found.values()].sort((a, b) => Number(a.warning ?? false) - Number(b.warning ?? false));
      return all.slice(0, mostFindings);
    },
  };
}

function checkPassage(
  passage: Passage,
  { corpus, report, own }: { corpus: LiteralCorpus; report: Report; own: WordTally },
): void {
  const { text, role } = passage;
  const lineAt = lineCounter(text);
  const inComment = role === "comment";
  const add = (
    kind: Kind,
    matches: Match[],
    say: (shown: string) => string,
    warns = (_match: Match) => false,
  ): void => {
    for (const match of matches) {
      const line = passage.line + lineAt(match.start) - 1;
      report.add({ kind, message: say(shown(match.text)) }, { line, warning: warns(match) });
    }
  };

  add("task-id", findIds(text, corpus), (id) => `the id of a task: ${id}`);
  const words = wordsOf(text);
  if (role === "name") {
    add(
      "answer",
      findAnswers(words, corpus, () => false),
      (answer) => `the right answer of a task: ${answer}`,
    );
    return;
  }
  const quoted = role === "number" || role === "joined" ? [] : quotedIn(text);
  const isShort = ({ text: answer }: Match): boolean => inComment && answer.length < shortAnswer;
  const answers = findAnswers(words, corpus, (answer, at) => {
    if (role === "constant" && answer.words.length === words.length) return true;
    return quoted.some(({ start, text: inside }) => {
      return (
        start <= (words[at]?.start ?? -1) &&
        wordsOf(inside).length === answer.words.length &&
        words[at]?.start === start
      );
    });
  });
  add("answer", answers, (answer) => `the right answer of a task: ${answer}`, isShort);
  if (role === "number" || role === "joined") return;
  if (role === "constant")
    add("task-id", findIdFragment(text, corpus), (part) => `part of the id of a task: ${part}`);
  add("url", findUrls(text, corpus), (url) => `an address from a task: ${url}`);
  add(
    "phrase",
    findPhrases(text, words, corpus),
    (phrase) => `words of a task: ${phrase}`,
    () => inComment,
  );
  if (inComment) return;
  const distinctive = distinctiveWords(words, { quoted, isConstant: role === "constant" });
  for (const key of ["alone", "all"] as const) {
    for (const { word, start } of distinctive[key]) {
      if (!own[key].has(word)) own[key].set(word, passage.line + lineAt(start) - 1);
    }
  }
}

function shown(text: string): string {
  const line = text.replace(/\s+/g, " ");
  return JSON.stringify(line.length > 80 ? `${line.slice(0, 77)}…` : line);
}

function rareWords(words: WordTally, corpus: LiteralCorpus, file?: string): Finding[] {
  const memorised = memorisedWords(words, corpus);
  const [first] = memorised;
  if (first === undefined) return [];
  const some = memorised.slice(0, 5).map(shown).join(", ");
  const message = `${memorised.length} words that only one or two tasks have, among them ${some}`;
  const finding: Finding = { kind: "rare-words", message, hint: hints["rare-words"] };
  const line = words.alone.get(first) ?? words.all.get(first) ?? 1;
  return [file === undefined ? finding : { ...finding, file, line }];
}
