/** Cases of Determined's checkpoint collection, judged by the rule and the references that checkpoint-gc decides by. */
import { fold } from "@trainyard/kernel";
import type { AnyEvent } from "@trainyard/contracts";
import {
  condemned,
  evolveCheckpoint,
  needOfPins,
  unknownCheckpoint,
} from "@trainyard/service-checkpoint-gc/retention-rule";
import type { Case } from "./case-file.ts";
import { inOrder, numberOr, texts } from "./read-case.ts";
import { difference } from "./same.ts";

type Stored = {
  readonly uuid: string;
  readonly trial: number;
  readonly steps: number;
  readonly val_metric?: unknown;
};

export function checkpointGcDifference(given: Case): string | null {
  const stored = (given["checkpoints"] ?? []) as readonly Stored[];
  const policy = {
    saveExperimentBest: numberOr(given["save_experiment_best"], 0),
    saveTrialBest: numberOr(given["save_trial_best"], 1),
    saveTrialLatest: numberOr(given["save_trial_latest"], 1),
  };
  const candidates = stored.map(({ uuid, trial, steps, val_metric: value }) => ({
    checkpoint: uuid,
    trial: `1.${trial}`,
    run: 1,
    step: steps,
    value: typeof value === "number" && Number.isFinite(value) ? value : null,
  }));
  const registered = new Set(texts(given["in_registry"]));
  const sources = new Set(texts(given["warm_start_sources"]));
  const isHeld = (checkpoint: string): boolean => {
    if (sources.has(checkpoint)) return true;
    const held: readonly AnyEvent[] = registered.has(checkpoint) ? [versionPin] : [];
    return needOfPins(fold(evolveCheckpoint, unknownCheckpoint, held)) !== null;
  };
  const gone = condemned(candidates, policy, given["smaller_is_better"] !== false);
  const deleted = [...gone.keys()].filter((checkpoint) => !isHeld(checkpoint)).sort();
  return difference(deleted, inOrder(given["expect_delete"]));
}

const versionPin: AnyEvent = {
  type: "CheckpointPinned",
  data: { by: "ada", holder: "model-version:m/1", reason: "" },
};
