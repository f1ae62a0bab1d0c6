import { useCallback, useMemo } from "react";
import { changedIn, type ShownHyperparameter } from "../../canvas/search-view/explain.ts";
import type { PictureTrial } from "../../canvas/search-view/layout.ts";
import { shownPairs } from "../../components/nested.ts";
import type { Experiment } from "./tabs.ts";
import { useTrials } from "./use-trials.ts";

export type HyperparametersOf = (trial: PictureTrial) => readonly ShownHyperparameter[];

/** Returns a function from a trial of the search's picture to its hyperparameters; empty until they are read. */
export function useHyperparameters(experiment: Experiment): HyperparametersOf {
  const { trials } = useTrials(experiment, "first");
  const known = useMemo(() => new Map(trials.map((trial) => [trial.id, trial])), [trials]);
  return useCallback(
    (trial) => changedIn(shownPairs(known.get(trial.trial)?.hyperparameters), trial),
    [known],
  );
}
