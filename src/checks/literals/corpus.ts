import { isDistinctive, isPlainNumber, joinedWords, wordsOf } from "./words.ts";

/** A task as the check needs it; `input` and `expected` may be any JSON. */
export interface LiteralTask {
  id: string;
  input: unknown;
  expected: unknown;
}

/** What fewer tasks than this share points at single tasks; what as many share belongs to the class. */
export const sharedBy = 3;

/** A right answer that points at a task. */
export interface RareAnswer {
  words: string[];
  text: string;
  /** Telling wherever it stands; otherwise only when it stands alone (a whole constant, a quoted word). */
  telling: boolean;
}

/** A run of words is looked for from each of its less common words. */
interface Place {
  task: number;
  at: number;
}

/** The index of a task set; built once, asked for every candidate. */
export interface LiteralCorpus {
  tasks: number;
  /** In lower case, by their last four characters. */
  ids: Map<string, string[]>;
  allIds: string[];
  /** By their first word. */
  answers: Map<string, RareAnswer[]>;
  /** Addresses and hosts of fewer than three tasks, in lower case. */
  urls: Set<string>;
  /** Numbers of all words, and each task's words as numbers; −1 parts two fields of a task. */
  wordNumbers: Map<string, number>;
  taskWords: Int32Array[];
  /** By word number: how many tasks have the word. */
  taskCounts: number[];
  /** By word number: where the less common words stand. */
  places: Map<number, Place[]>;
  publicWords: Set<string>;
  /** The public texts, words joined by spaces. */
  publicText: string;
}

const shortestAnswer = 4;
const mostPlacesInTask = 200;

/**
 * Indexes tasks, once per task set. `publicTexts` is what the recipe says openly (options, markers, its baseline and
 * task template): nothing of it counts as an answer or as rare.
 */
export function buildLiteralCorpus(
  tasks: readonly LiteralTask[],
  publicTexts: readonly string[],
): LiteralCorpus {
  const documents = tasks.map(({ input, expected }) => [...textsOf(input), ...textsOf(expected)]);
  const index = indexWords(documents);
  const publicText = joinedWords(publicTexts.join("\n"));
  const publicWords = new Set(publicText.split(" "));
  const ids = rareIds(tasks, index, publicTexts.join("\n").toLowerCase());
  return {
    tasks: tasks.length,
    ids: groupBy(ids, (id) => id.slice(-4)),
    allIds: tasks.map(({ id }) => id.toLowerCase()),
    answers: groupBy(rareAnswers(tasks, index, publicText), ({ words }) => words[0] ?? ""),
    urls: rareUrls(documents, publicTexts.join("\n")),
    ...index,
    publicWords,
    publicText,
  };
}

/** The strings and numbers inside any JSON value. */
export function textsOf(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

type WordIndex = Pick<LiteralCorpus, "wordNumbers" | "taskWords" | "taskCounts" | "places">;

function indexWords(documents: readonly string[][]): WordIndex {
  const wordNumbers = new Map<string, number>();
  const taskCounts: number[] = [];
  const lastTask: number[] = [];
  const taskWords = documents.map((texts, task) => {
    const numbers: number[] = [];
    for (const text of texts) {
      for (const { word } of wordsOf(text)) {
        const number = wordNumbers.get(word) ?? wordNumbers.size;
        wordNumbers.set(word, number);
        if (lastTask[number] !== task) taskCounts[number] = (taskCounts[number] ?? 0) + 1;
        lastTask[number] = task;
        numbers.push(number);
      }
      numbers.push(-1);
    }
    return Int32Array.from(numbers);
  });
  return { wordNumbers, taskWords, taskCounts, places: placesOf(taskWords, taskCounts) };
}

/** Where the words stand that at most one task in five has. */
function placesOf(taskWords: readonly Int32Array[], taskCounts: readonly number[]): Map<number, Place[]> {
  const most = Math.max(sharedBy - 1, Math.floor(taskWords.length / 5));
  const places = new Map<number, Place[]>();
  for (const [task, words] of taskWords.entries()) {
    const seen = new Map<number, number>();
    for (const [at, number] of words.entries()) {
      if (number < 0 || (taskCounts[number] ?? 0) > most) continue;
      const times = (seen.get(number) ?? 0) + 1;
      seen.set(number, times);
      if (times > mostPlacesInTask) continue;
      const known = places.get(number);
      if (known === undefined) places.set(number, [{ task, at }]);
      else known.push({ task, at });
    }
  }
  return places;
}

/** Ids that are long enough to be told from chance, and no words of the class. */
function rareIds(tasks: readonly LiteralTask[], index: WordIndex, openly: string): string[] {
  const ids = tasks
    .map(({ id }) => id.toLowerCase())
    .filter((id) => id.length >= (/^\d+$/.test(id) ? 6 : 4) && !openly.includes(id));
  return rareRuns(ids, (id) => wordsOf(id).map(({ word }) => word), index);
}

function rareAnswers(tasks: readonly LiteralTask[], index: WordIndex, publicText: string): RareAnswer[] {
  const byForm = new Map<string, { answer: RareAnswer; tasks: number }>();
  for (const { expected } of tasks) {
    for (const text of new Set(textsOf(expected))) {
      const words = wordsOf(text).map(({ word }) => word);
      const form = words.join(" ");
      const known = byForm.get(form);
      if (known !== undefined) known.tasks++;
      else byForm.set(form, { answer: { words, text, telling: isTelling(words) }, tasks: 1 });
    }
  }
  const answers = [...byForm.values()]
    .filter(({ answer, tasks: count }) => count < sharedBy && answer.text.trim().length >= shortestAnswer)
    .map(({ answer }) => answer)
    .filter(({ words }) => words.length > 0 && !publicText.includes(` ${words.join(" ")} `))
    .filter(({ words }) => words.length > 1 || !isPlainNumber(words[0] ?? ""));
  return rareRuns(answers, ({ words }) => words, index);
}

/** Those items whose words, in a row, fewer than three tasks have; one pass over all tasks. */
function rareRuns<Item>(items: readonly Item[], wordsIn: (item: Item) => string[], index: WordIndex): Item[] {
  const runs = items.map((item) => ({
    item,
    numbers: wordsIn(item).map((word) => index.wordNumbers.get(word) ?? -2),
    tasks: 0,
  }));
  const byFirst = groupBy(
    runs.filter(({ numbers }) => numbers.every((number) => (index.taskCounts[number] ?? 0) >= sharedBy)),
    ({ numbers }) => numbers[0] ?? -2,
  );
  for (const words of byFirst.size > 0 ? index.taskWords : []) {
    const seen = new Set<(typeof runs)[number]>();
    for (let at = 0; at < words.length; at++) {
      for (const run of byFirst.get(words[at] ?? -1) ?? []) {
        if (run.numbers.every((part, offset) => words[at + offset] === part)) seen.add(run);
      }
    }
    for (const run of seen) run.tasks++;
  }
  return runs.filter(({ tasks }) => tasks < sharedBy).map(({ item }) => item);
}

/** One ordinary word is said by chance; a number, an uncommon pair or a sentence is not. */
function isTelling(words: readonly string[]): boolean {
  if (words.length === 1) return /\p{N}/u.test(words[0] ?? "");
  return words.length >= 4 || words.some(isDistinctive);
}

const urlPattern = /\b(?:https?:\/\/|www\.)[^\s"'<>()[\]{}\\]+/gi;

/** The addresses in a text and their hosts, in lower case, without `www.` and closing punctuation. */
export function urlsOf(text: string): { url: string; start: number }[] {
  return [...text.matchAll(urlPattern)].flatMap((match) => {
    const url = match[0]
      .toLowerCase()
      .replace(/^https?:\/\//, "")
      .replace(/^www\./, "")
      .replace(/[.,;:!?/]+$/, "");
    const host = url.split(/[/:?#]/)[0] ?? url;
    return [...new Set([url, host])]
      .filter((part) => part.includes("."))
      .map((part) => ({ url: part, start: match.index }));
  });
}

function rareUrls(documents: readonly string[][], openly: string): Set<string> {
  const counts = new Map<string, number>();
  for (const texts of documents) {
    const found = new Set(texts.flatMap((text) => urlsOf(text).map(({ url }) => url)));
    for (const url of found) counts.set(url, (counts.get(url) ?? 0) + 1);
  }
  const known = openly.toLowerCase();
  return new Set(
    [...counts].filter(([url, count]) => count < sharedBy && !known.includes(url)).map(([url]) => url),
  );
}

/** Whether fewer than three tasks have the word and it could point at them. */
export function isRareWord(corpus: LiteralCorpus, word: string): boolean {
  if (!isDistinctive(word) || corpus.publicWords.has(word)) return false;
  const count = corpus.taskCounts[corpus.wordNumbers.get(word) ?? -1] ?? 0;
  return count > 0 && count < sharedBy;
}
