/**
 * Ranks results by several numbers; smaller is better throughout.
 *
 * A result dominates another if it is better in some number and worse in none. The results that no other dominates are
 * the first front, those that only the first front dominates the second, and so on. Within a front the more isolated
 * result comes first, by the crowding distance of K. Deb, A. Pratap, S. Agarwal, T. Meyarivan ("A fast and elitist
 * multiobjective genetic algorithm: NSGA-II", 2002).
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

/** Sorts by the first objective, equal ones by the second, and so on: no result dominates an earlier one. */
function inOrder(all: readonly Scores[], members: readonly number[]): number[] {
  return members.toSorted((a, b) => {
    const [one, other] = [all[a] as Scores, all[b] as Scores];
    for (const [i, value] of one.entries()) {
      if (value !== other[i]) return value - (other[i] as number);
    }
    return a - b;
  });
}

/** Returns the members that no other member dominates, in index order. */
function firstFront(all: readonly Scores[], members: readonly number[]): number[] {
  const front: number[] = [];
  for (const one of inOrder(all, members)) {
    const scores = all[one] as Scores;
    if (!front.some((other) => dominates(all[other] as Scores, scores))) front.push(one);
  }
  return front.sort((a, b) => a - b);
}

/** Returns the indices of the results that no other result dominates. */
export function paretoFront(all: readonly Scores[]): readonly number[] {
  return firstFront(
    all,
    all.map((_, index) => index),
  );
}

/**
 * Returns the crowding distances: the distance between the neighbours in the front, as a share of the front's range,
 * summed over objectives.
 */
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

/** Returns the indices of the best results, at most `count`: front by front, of the last front the most isolated. */
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
