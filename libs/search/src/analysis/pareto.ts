/**
 * Ranks results where more than one number counts. A result dominates another that is worse in something and better in
 * nothing; those that none dominates are the first front, those that only these dominate the second, and so on. Among
 * those of one front the lonelier comes first, by the crowding distance of K. Deb, A. Pratap, S. Agarwal, T. Meyarivan
 * ("A fast and elitist multiobjective genetic algorithm: NSGA-II", 2002). Smaller is better throughout.
 */

type Scores = readonly number[];

function dominates(a: Scores, b: Scores): boolean {
  let better = false;
  for (const [i, value] of a.entries()) {
    const other = b[i] as number;
    if (value > other) return false;
    if (value < other) better = true;
  }
  return better;
}

/** Orders by the first objective, among equals by the second, and so on: a later one dominates none before it. */
function inOrder(all: readonly Scores[], members: readonly number[]): number[] {
  return members.toSorted((a, b) => {
    const [one, other] = [all[a] as Scores, all[b] as Scores];
    for (const [i, value] of one.entries()) {
      if (value !== other[i]) return value - (other[i] as number);
    }
    return a - b;
  });
}

/** The members, in the order of their numbers, that no other of them dominates. */
function firstFront(all: readonly Scores[], members: readonly number[]): number[] {
  const front: number[] = [];
  for (const one of inOrder(all, members)) {
    const scores = all[one] as Scores;
    if (!front.some((other) => dominates(all[other] as Scores, scores))) front.push(one);
  }
  return front.sort((a, b) => a - b);
}

/** The indices of those that none dominates. */
export function paretoFront(all: readonly Scores[]): readonly number[] {
  return firstFront(
    all,
    all.map((_, index) => index),
  );
}

/** How far the neighbours of each in its front are apart, summed over the objectives as shares of the front's range. */
function crowdingOf(all: readonly Scores[], front: readonly number[]): ReadonlyMap<number, number> {
  const crowding = new Map(front.map((one) => [one, 0]));
  for (let i = 0; i < (all[front[0] ?? 0]?.length ?? 0); i += 1) {
    const value = (one: number | undefined): number => all[one as number]?.[i] as number;
    const sorted = front.toSorted((a, b) => value(a) - value(b) || a - b);
    const range = value(sorted.at(-1)) - value(sorted[0]);
    for (const [at, one] of sorted.entries()) {
      const isEnd = at === 0 || at === sorted.length - 1;
      const gap = isEnd ? Number.POSITIVE_INFINITY : value(sorted[at + 1]) - value(sorted[at - 1]);
      const share = isEnd ? gap : range === 0 ? 0 : gap / range;
      crowding.set(one, (crowding.get(one) ?? 0) + share);
    }
  }
  return crowding;
}

/** The indices of the best, at most `count`: front after front, and of the last that has room the loneliest. */
export function bestByFronts(all: readonly Scores[], count: number): readonly number[] {
  const best: number[] = [];
  let rest = all.map((_, index) => index);
  while (best.length < count && rest.length > 0) {
    const front = firstFront(all, rest);
    const crowding = crowdingOf(all, front);
    const lonely = front.toSorted((a, b) => {
      const [one, other] = [crowding.get(a) ?? 0, crowding.get(b) ?? 0];
      return one === other ? a - b : other - one;
    });
    best.push(...lonely.slice(0, count - best.length));
    const taken = new Set(front);
    rest = rest.filter((index) => !taken.has(index));
  }
  return best;
}
