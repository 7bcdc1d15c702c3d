import { isRareWord, type LiteralCorpus, type RareAnswer, sharedBy, urlsOf } from "./corpus.ts";
import { isDistinctive, type Word, wordsOf } from "./words.ts";

/** Something of a task found in a text. */
export interface Match {
  text: string;
  start: number;
}

/**
 * Task ids in a text, in any case. One of six characters or more with letters and digits counts inside a longer word
 * too; any other only where no letter or digit adjoins.
 */
export function findIds(text: string, { ids }: LiteralCorpus): Match[] {
  const lower = text.toLowerCase();
  const found: Match[] = [];
  for (let end = 4; end <= lower.length; end++) {
    for (const id of ids.get(lower.slice(end - 4, end)) ?? []) {
      const start = end - id.length;
      if (start < 0 || !lower.startsWith(id, start)) continue;
      const strong = id.length >= 6 && /\d/.test(id) && /[a-z]/.test(id);
      const adjoined = /[\p{L}\p{N}]/u.test((lower[start - 1] ?? "") + (lower[end] ?? ""));
      if (strong || !adjoined) found.push({ text: id, start });
    }
  }
  return found;
}

/** A whole constant of letters and digits, five or more, that is part of fewer than three tasks' ids. */
export function findIdFragment(text: string, { allIds, publicText }: LiteralCorpus): Match[] {
  return text
    .toLowerCase()
    .split(/[\s^$]+/)
    .filter(
      (part) => part.length >= 5 && /\p{N}/u.test(part) && /\p{L}/u.test(part) && !publicText.includes(part),
    )
    .filter((part) => {
      const count = allIds.filter((id) => id.includes(part)).length;
      return count > 0 && count < sharedBy;
    })
    .map((part) => ({ text: part, start: 0 }));
}

export function findUrls(text: string, { urls }: LiteralCorpus): Match[] {
  return urlsOf(text)
    .filter(({ url }) => urls.has(url))
    .map(({ url, start }) => ({ text: url, start }));
}

/** Right answers among words; one that is an ordinary word only where `standsAlone` says so. */
export function findAnswers(
  words: readonly Word[],
  { answers }: LiteralCorpus,
  standsAlone: (answer: RareAnswer, at: number) => boolean,
): Match[] {
  return words.flatMap(({ word, start }, at) =>
    (answers.get(word) ?? [])
      .filter((answer) => answer.words.every((part, offset) => words[at + offset]?.word === part))
      .filter((answer) => answer.telling || standsAlone(answer, at))
      .map((answer) => ({ text: answer.text, start })),
  );
}

const quotedPattern =
  /"([^"\n]{1,60})"|“([^”\n]{1,60})”|`([^`\n]{1,60})`|«([^»\n]{1,60})»|(?<![\p{L}\p{N}])'([^'\n]{1,60})'(?![\p{L}\p{N}])/gu;

/** What stands in quotation marks. */
export function quotedIn(text: string): Match[] {
  return [...text.matchAll(quotedPattern)].map((match) => {
    const inside = match.slice(1).find((group) => group !== undefined) ?? "";
    return { text: inside, start: match.index + 1 };
  });
}

const shortestRareRun = 4;
const shortestPlainRun = { words: 8, characters: 40 };

/**
 * Runs of words that fewer than three tasks have: four words with a rare one among them, or eight (and forty
 * characters) that hold at least one word that at most one task in five has.
 */
export function findPhrases(text: string, words: readonly Word[], corpus: LiteralCorpus): Match[] {
  const numbers = words.map(({ word }) => corpus.wordNumbers.get(word) ?? -2);
  const found: Match[] = [];
  let from = 0;
  for (let at = 0; at < words.length; at++) {
    const { word, start } = words[at] as Word;
    if (!isAnchor(word, corpus)) continue;
    const runs = runsThrough(numbers, { at, from }, corpus);
    const longest = runs.reduce((best, run) => (run.end - run.first > best.end - best.first ? run : best), {
      first: at,
      end: at,
      task: -1,
    });
    if (!isTellingRun(runs, words, isRareHere(word, corpus))) continue;
    const first = words[longest.first]?.start ?? start;
    const last = words[longest.end - 1] as Word;
    found.push({ text: text.slice(first, last.start + last.word.length), start: first });
    from = longest.end;
    at = longest.end - 1;
  }
  return found;
}

interface Run {
  task: number;
  first: number;
  end: number;
}

function isAnchor(word: string, corpus: LiteralCorpus): boolean {
  if (corpus.publicWords.has(word)) return false;
  return isDistinctive(word) || (word.length >= 3 && /\p{N}/u.test(word));
}

function isRareHere(word: string, { taskCounts, wordNumbers }: LiteralCorpus): boolean {
  return (taskCounts[wordNumbers.get(word) ?? -1] ?? 0) < sharedBy;
}

/** The longest run of equal words through `at`, for each task that has its word. */
function runsThrough(
  numbers: readonly number[],
  { at, from }: { at: number; from: number },
  corpus: LiteralCorpus,
): Run[] {
  const longest = new Map<number, Run>();
  for (const place of corpus.places.get(numbers[at] ?? -2) ?? []) {
    const task = corpus.taskWords[place.task] as Int32Array;
    let before = 0;
    while (at - before > from && numbers[at - before - 1] === task[place.at - before - 1]) before++;
    let after = 1;
    while (at + after < numbers.length && numbers[at + after] === task[place.at + after]) after++;
    const run = { task: place.task, first: at - before, end: at + after };
    const known = longest.get(place.task);
    if (known === undefined || run.end - run.first > known.end - known.first) longest.set(place.task, run);
  }
  return [...longest.values()];
}

function isTellingRun(runs: readonly Run[], words: readonly Word[], rare: boolean): boolean {
  if (rare && runs.some((run) => run.end - run.first >= shortestRareRun)) return true;
  const long = runs.filter(({ first, end }) => {
    const last = words[end - 1] as Word;
    const characters = last.start + last.word.length - (words[first] as Word).start;
    return end - first >= shortestPlainRun.words && characters >= shortestPlainRun.characters;
  });
  return long.length > 0 && long.length < sharedBy;
}

/** The distinctive words of a candidate, rare or not, for the counting rule; each with the line of its first use. */
export interface WordTally {
  /** Words that stand alone: whole constants, quoted words. */
  alone: Map<string, number>;
  all: Map<string, number>;
}

export function emptyTally(): WordTally {
  return { alone: new Map(), all: new Map() };
}

const mostWordsAlone = 3;

/** The distinctive words of a passage, those that stand alone apart. */
export function distinctiveWords(
  words: readonly Word[],
  { quoted, isConstant }: { quoted: readonly Match[]; isConstant: boolean },
): Record<keyof WordTally, Word[]> {
  const inQuotes = quoted.map(({ text, start }) =>
    wordsOf(text).map((inside) => ({ word: inside.word, start: start + inside.start })),
  );
  const pieces = isConstant ? [...inQuotes, words] : inQuotes;
  const alone = pieces.filter((piece) => piece.length <= mostWordsAlone).flat();
  const keep = (some: readonly Word[]): Word[] => some.filter(({ word }) => isDistinctive(word));
  return { alone: keep(alone), all: keep(words) };
}

/**
 * The rare words of a tally when they are too many to be chance, and enough to matter. They must point at one task in
 * twenty, at least three (fewer could not buy an acceptance), and be
 *
 * - of the words that stand alone, three or more and half of all that stand alone;
 * - or eight or more that stand alone and point at a quarter of the tasks;
 * - or of all distinctive words, eight or more and half.
 *
 * A memorised list is nearly all hits; a general table, a program or a prompt is nearly all misses.
 */
export function memorisedWords({ alone, all }: WordTally, corpus: LiteralCorpus): string[] {
  const matters = (words: readonly string[], least: number, share: number): boolean => {
    const pointedAt = new Set(words.flatMap((word) => tasksWith(word, corpus))).size;
    return words.length >= least && pointedAt >= Math.max(3, corpus.tasks * share);
  };
  const hits = rareOf(alone, corpus);
  if (hits.length * 2 >= alone.size && matters(hits, 3, 0.05)) return hits;
  if (matters(hits, 8, 0.25)) return hits;
  const spread = rareOf(all, corpus);
  return spread.length * 2 >= all.size && matters(spread, 8, 0.05) ? spread : [];
}

function rareOf(words: ReadonlyMap<string, number>, corpus: LiteralCorpus): string[] {
  return [...words.keys()].filter((word) => isRareWord(corpus, word));
}

function tasksWith(word: string, { places, wordNumbers }: LiteralCorpus): number[] {
  return (places.get(wordNumbers.get(word) ?? -1) ?? []).map(({ task }) => task);
}
