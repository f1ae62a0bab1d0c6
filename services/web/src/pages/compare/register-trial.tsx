import { type JSX, useMemo, useState } from "react";
import { RegisterDialog } from "../../components/checkpoint/register-dialog.tsx";
import { Choice } from "../../components/field.tsx";
import { number } from "../../components/format.ts";
import { shownError } from "../../components/problem.ts";
import { useCall } from "../../data/calls.ts";
import { checkpointChoices } from "./checkpoint-choices.ts";
import type { ComparedTrial } from "./comparison.ts";

type Props = { readonly trial: ComparedTrial; readonly onClose: () => void };

/** Registers a checkpoint of a trial; the best one is chosen at first, if all were read. */
export function RegisterTrial({ trial, onClose }: Props): JSX.Element {
  const { id, experiment } = trial;
  const [chosen, setChosen] = useState<string | null>(null);
  const checkpoints = useCall("listCheckpoints", {
    experiment: experiment.id,
    trial: id,
    filter: "state = COMPLETED",
    orderBy: "steps_completed desc",
    pageSize: 200,
  });
  const verdicts = useCall("previewRetention", { experiment: experiment.id, pageSize: 1_000 });
  const { choices, first } = useMemo(
    () => checkpointChoices(checkpoints.data, verdicts.data, experiment.smallerIsBetter),
    [checkpoints.data, verdicts.data, experiment.smallerIsBetter],
  );
  const isRead = !checkpoints.isPending && !verdicts.isPending;
  const mustChoose = isRead && first === "" && choices.length > 0;
  const error =
    checkpoints.error !== null
      ? shownError(checkpoints.error).what
      : isRead && choices.length === 0
        ? `Trial ${id} has no complete checkpoint, so nothing of it can be registered.`
        : undefined;
  return (
    <RegisterDialog checkpoint={chosen ?? first} onClose={onClose}>
      <Choice
        label={`Checkpoint of trial ${id}`}
        error={error}
        hint={
          mustChoose
            ? "Not all checkpoints and values of the experiment were read, so the best one is not known."
            : undefined
        }
        value={chosen ?? first}
        onChange={({ target }) => setChosen(target.value)}
      >
        {first === "" && <option value="">{mustChoose ? "Choose a checkpoint" : ""}</option>}
        {choices.map(({ uuid, step, value, isBest }) => (
          <option key={uuid} value={uuid}>
            step {number(step)}
            {value === undefined ? "" : `, ${experiment.metric} ${number(value)}`}
            {isBest ? " (best)" : ""}
          </option>
        ))}
      </Choice>
    </RegisterDialog>
  );
}
