type RankedRecord = { score: number; record: Record<string, unknown> };
export type Ranker = (text: string, k: number) => RankedRecord[];

/** How far a record's own length counts; the rest is the average length, so that short records do not always win. */
const lengthWeight = 0.8;
const longestWord = 24;
const marks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";

/**
 * An index of records by likeness of their text fields, as a function from a text to the `k` records most like it,
 * best first; ties keep the order of `records`. Cosine over words, word pairs and punctuation, weighted by rarity,
 * with pivoted length; `score` is in [0, 1], and a record that shares nothing with the text is not returned.
 */
export function createRanker(records: readonly Record<string, unknown>[]): Ranker {
  const bags = records.map((record) => bagOf(textOf(record)));
  const spread = new Map<string, number>();
  for (const bag of bags) for (const term of bag.keys()) spread.set(term, (spread.get(term) ?? 0) + 1);
  const vectors = bags.map((bag) => weigh(bag, spread, records.length));
  const averageLength = vectors.reduce((sum, vector) => sum + vector.length, 0) / Math.max(1, vectors.length);

  const postings = new Map<string, { record: number; weight: number }[]>();
  for (const [record, { terms, length }] of vectors.entries()) {
    const pivoted = lengthWeight * length + (1 - lengthWeight) * averageLength;
    for (const { term, weight } of terms) {
      const posting = { record, weight: weight / pivoted };
      const list = postings.get(term);
      if (list) list.push(posting);
      else postings.set(term, [posting]);
    }
  }

  return (text, k) => {
    const { terms, length } = weigh(bagOf(text), spread, records.length);
    const scores = new Float64Array(records.length);
    for (const { term, weight } of terms) {
      for (const posting of postings.get(term) ?? []) {
        scores[posting.record] = (scores[posting.record] ?? 0) + (weight / length) * posting.weight;
      }
    }
    return records
      .map((record, index) => ({ record, score: Math.min(1, scores[index] ?? 0) }))
      .filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, Math.max(0, k));
  };
}

/** Terms of a bag that the index knows, with their weights, and the length of that vector. */
function weigh(bag: ReadonlyMap<string, number>, spread: ReadonlyMap<string, number>, records: number) {
  const terms: { term: string; weight: number }[] = [];
  let squares = 0;
  for (const [term, count] of bag) {
    const holders = spread.get(term);
    if (holders === undefined) continue;
    const weight = (1 + Math.log(count)) * Math.log(1 + records / holders);
    terms.push({ term, weight });
    squares += weight * weight;
  }
  return { terms, length: Math.sqrt(squares) || 1 };
}

function textOf(record: Record<string, unknown>): string {
  return Object.values(record)
    .filter((value) => typeof value === "string")
    .join("\n");
}

/** Words (numbers as 0), pairs of neighbouring words and punctuation marks, counted. A tag counts as one mark. */
function bagOf(text: string): Map<string, number> {
  const plain = text
    .replace(/<[^<>]*(?:>|$)/g, " < ")
    .replace(/&(?:[a-z]{2,8}|#\d{1,6});/gi, " ")
    .replace(/=\r?\n/g, "")
    .replace(/=[0-9A-F]{2}/g, " ")
    .replace(/\d+/g, "0")
    .toLowerCase();
  const bag = new Map<string, number>();
  const add = (term: string) => bag.set(term, (bag.get(term) ?? 0) + 1);
  let before = "";
  for (const token of plain.match(/[\p{L}\p{N}][\p{L}\p{N}']*|[!-/:-@[-`{-~]/gu) ?? []) {
    const isMark = token.length === 1 && marks.includes(token);
    if (isMark) add(token);
    if (token.length === 1 || token.length > longestWord) continue;
    add(token);
    if (before !== "") add(`${before} ${token}`);
    before = token;
  }
  return bag;
}
