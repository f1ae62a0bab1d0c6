/** The evidence of decisions about a population, as recorded in its events. */
import type { JsonObject, PbtSearcher } from "@trainyard/experiment-config";
import { searchLimits } from "../limits.ts";
import type { SearchPlan } from "../state.ts";
import type { Comparison, Donor } from "./exploit.ts";
import type { Change } from "./explore.ts";
import { type Member, WORST } from "./state.ts";

/** The most other members whose scores the evidence lists: the best ones. */
const COMPETITORS_MAX = 16;

/**
 * Returns the evidence of a comparison, after which a member copies another or continues; `copy` is the trial that
 * replaces it, or null.
 */
export function comparisonEvidence(
  { rank, ranking, places, lower, opponent, verdict }: Comparison,
  { trial, score }: Member,
  { quantile, exploit }: PbtSearcher,
  plan: SearchPlan,
): (copy: number | null) => JsonObject {
  const shown = valueShown(plan);
  return (copy) => ({
    value: shown(score?.value ?? WORST),
    time: score?.time ?? 0,
    rank,
    of: ranking.length,
    places,
    exploit,
    ...(exploit === "truncation" ? { quantile, copying: lower } : { opponent }),
    ...(verdict.kind === "copies" ? donorEvidence(verdict.donor, ranking, shown) : {}),
    ...(copy === null ? {} : { copy }),
    competitors: ranking
      .filter((other) => other.trial !== trial)
      .slice(0, COMPETITORS_MAX)
      .map((other) => ({
        trial: other.trial,
        value: shown(other.score.value),
        time: other.score.time,
      })),
  });
}

function donorEvidence(
  donor: Donor,
  ranking: Comparison["ranking"],
  shown: (value: number) => number | null,
): JsonObject {
  const { trial, score, saved } = donor;
  return {
    donor: trial,
    donor_rank: ranking.findIndex((other) => other.trial === trial) + 1,
    donor_value: shown(score?.value ?? WORST),
    donor_time: score?.time ?? 0,
    checkpoint_time: saved.time,
  };
}

/** Returns a function that converts ranked values to reported ones; null for a value that was not finite. */
function valueShown({ smallerIsBetter }: SearchPlan): (value: number) => number | null {
  return (value) => {
    if (value === WORST) return null;
    return smallerIsBetter ? value : 0 - value;
  };
}

/**
 * Returns the donor of a copy and the changed hyperparameters; `replaces` is the replaced trial, null if that one
 * failed.
 */
export function copyEvidence(
  { trial, saved }: Donor,
  changes: readonly Change[],
  replaces: number | null,
): JsonObject {
  return {
    parent: trial,
    ...(replaces === null ? {} : { replaces }),
    from_time: saved.time,
    changed: changes.map(changeText).join(", "),
    changes: changes.map((change) => ({ ...change })),
  };
}

function changeText({ hyperparameter, how, factor, from, to }: Change): string {
  const by = how === "resampled" ? "drawn again" : factor === null ? "a neighbour" : `× ${factor}`;
  return `${hyperparameter} ${cut(from)} → ${cut(to)} (${by})`;
}

/** Old values are cut off, because the new ones are also recorded and an event has a maximum size. */
function cut(value: unknown): string {
  return JSON.stringify(value).slice(0, searchLimits.shownCharactersMax);
}
