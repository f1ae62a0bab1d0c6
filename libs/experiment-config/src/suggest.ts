/** Optimal string alignment distance: insertions, deletions, replacements and swaps of neighbours. */
export function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let cost = Math.min((last[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, (last[j - 1] ?? 0) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) {
        cost = Math.min(cost, (before[j - 2] ?? 0) + 1);
      }
      row.push(cost);
    }
    before = last;
    last = row;
  }
  return last[b.length] ?? 0;
}

/** The longest word that is compared: keys are shorter, and the comparison takes quadratic time. */
const WORD_CHARS_MAX = 64;

/** Names of other tools and of Determined's first releases, with this platform's names. */
const synonyms: Readonly<Record<string, string>> = {
  grace_period: "grace",
  n_warmup_steps: "grace",
  start_from_epoch: "grace",
  start_step: "grace",
  warmup: "grace",
  n_startup_trials: "min_trials",
  n_min_trials: "min_trials",
  min_samples_required: "min_trials",
  timeout: "max_wall_time",
  time_budget_s: "max_wall_time",
  n_trials: "max_trials",
  num_samples: "max_trials",
  plateau: "no_improvement",
  patience: "no_improvement",
  nan: "not_finite",
  validation_period: "min_validation_period",
  checkpoint_period: "min_checkpoint_period",
  slots_per_task: "slots_per_trial",
  slots_per_trial: "slots",
  pool: "resource_pool",
  length_per_round: "interval",
};

/**
 * Returns the known word that was probably meant: a synonym, or the closest word within a third of the word's length
 * and three edits; null if there is none.
 */
export function closest(word: string, known: readonly string[]): string | null {
  if (word.length > WORD_CHARS_MAX) return null;
  const synonym = Object.hasOwn(synonyms, word) ? synonyms[word] : undefined;
  if (synonym !== undefined && known.includes(synonym)) return synonym;
  const allowed = Math.min(3, Math.max(1, Math.floor(word.length / 3)));
  let best: string | null = null;
  let bestDistance = allowed + 1;
  for (const candidate of known) {
    const distance = editDistance(word.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}
