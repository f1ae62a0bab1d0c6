import { useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import type { ShownTrial } from "./trial.ts";

/** Reads the step of each checkpoint of a trial. */
export function useCheckpointSteps({ id, runs }: ShownTrial): ReadonlyMap<string, number> {
  const enabled = runs.length > 1;
  const checkpoints = useCall("listCheckpoints", { trial: id, pageSize: 1_000 }, { enabled });
  return useMemo(
    () =>
      new Map(checkpoints.data?.items.map(({ uuid, stepsCompleted }) => [uuid, stepsCompleted])),
    [checkpoints.data],
  );
}
