const shingleWords = 3;
const threshold = 0.5;

/**
 * Groups texts that say nearly the same. Texts are compared as sets of 3-word shingles, without regard to case, white
 * space, punctuation and the digits of numbers; two with a Jaccard likeness of at least 0.5 are in one group, and so
 * is whatever is linked through others. Exact: no pair is missed.
 * @returns for each text the index of the first text of its group
 */
export function nearDuplicateGroups(texts: readonly string[]): number[] {
  const sets = rareFirst(shingleSets(texts));
  const parents = texts.map((_, index) => index);
  // Smaller sets first: a set is compared only with those before it, whose size alone may rule a pair out.
  const order = texts.map((_, index) => index).sort((a, b) => sizeOf(sets, a) - sizeOf(sets, b) || a - b);
  const holders = new Map<number, number[]>();

  for (const current of order) {
    const set = sets[current] ?? [];
    const seen = new Set<number>();
    for (const shingle of prefixOf(set)) {
      const list = holders.get(shingle);
      for (const other of list ?? []) {
        if (seen.has(other)) continue;
        seen.add(other);
        if (find(parents, other) === find(parents, current)) continue;
        if (isLike(sets[other] ?? [], set)) unite(parents, other, current);
      }
      if (list) list.push(current);
      else holders.set(shingle, [current]);
    }
  }
  return parents.map((_, index) => find(parents, index));
}

function sizeOf(sets: readonly number[][], index: number): number {
  return sets[index]?.length ?? 0;
}

/** Sets that are alike enough share a shingle of this part, if all are sorted alike. */
function prefixOf(set: readonly number[]): number[] {
  return set.slice(0, set.length - Math.ceil(threshold * set.length) + 1);
}

/** Each text as a set of shingle numbers; equal shingles have equal numbers. A text under 3 words is one shingle. */
function shingleSets(texts: readonly string[]): number[][] {
  const numbers = new Map<string, number>();
  return texts.map((text) => {
    const words = wordsOf(text);
    const set = new Set<number>();
    const last = Math.max(0, words.length - shingleWords);
    for (let at = 0; at <= last; at++) {
      const shingle = words.slice(at, at + shingleWords).join(" ");
      const number = numbers.get(shingle) ?? numbers.size;
      if (number === numbers.size) numbers.set(shingle, number);
      set.add(number);
    }
    return [...set];
  });
}

function wordsOf(text: string): string[] {
  return (
    text
      .toLowerCase()
      .replace(/\d+/g, "0")
      .match(/[\p{L}\p{N}]+/gu) ?? []
  );
}

/** Renumbers shingles by how many texts have them, rarest first, and sorts each set so. */
function rareFirst(sets: readonly number[][]): number[][] {
  const spread: number[] = [];
  for (const set of sets) for (const shingle of set) spread[shingle] = (spread[shingle] ?? 0) + 1;
  const rank: number[] = [];
  const rarestFirst = [...spread.keys()].sort((a, b) => (spread[a] ?? 0) - (spread[b] ?? 0) || a - b);
  for (const [place, shingle] of rarestFirst.entries()) rank[shingle] = place;
  return sets.map((set) => set.map((shingle) => rank[shingle] ?? 0).sort((a, b) => a - b));
}

/** Whether two sorted sets have a Jaccard likeness of at least the threshold. */
function isLike(a: readonly number[], b: readonly number[]): boolean {
  // |a ∩ b| / |a ∪ b| ≥ t exactly when |a ∩ b| ≥ t (|a| + |b|) / (1 + t): a third for 0.5.
  const needed = Math.ceil((a.length + b.length) / 3);
  if (Math.min(a.length, b.length) < needed) return false;
  let shared = 0;
  let left = 0;
  let right = 0;
  while (left < a.length && right < b.length) {
    if (shared + Math.min(a.length - left, b.length - right) < needed) return false;
    const difference = (a[left] ?? 0) - (b[right] ?? 0);
    if (difference === 0) shared++;
    if (difference <= 0) left++;
    if (difference >= 0) right++;
  }
  return shared >= needed;
}

/** The root of a text's group: always its first text. */
function find(parents: number[], index: number): number {
  let root = index;
  while (parents[root] !== root) root = parents[root] ?? root;
  let at = index;
  while (parents[at] !== root) {
    const next = parents[at] ?? root;
    parents[at] = root;
    at = next;
  }
  return root;
}

function unite(parents: number[], a: number, b: number): void {
  const [first, second] = [find(parents, a), find(parents, b)];
  parents[Math.max(first, second)] = Math.min(first, second);
}
