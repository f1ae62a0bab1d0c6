import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useCall, useChange } from "../../data/calls.ts";
import { type Action, experiments, summaryOf } from "./outcomes.ts";
import { Preview } from "./preview.tsx";
import { useOutcome } from "./use-outcome.ts";

type Props = {
  readonly action: Action;
  /** The experiments that were selected when the dialog opened; later changes of the list do not affect them. */
  readonly ids: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
};

/** Shows what the action would do to each experiment according to the server, and does it when the user confirms. */
export function ActionDialog({ action, ids: selected, onClose, onDone }: Props): JSX.Element {
  const [ids] = useState(selected);
  const [typed, setTyped] = useState("");
  const tell = useOutcome(action.done, onDone);
  const request = { experiments: [...ids], verb: action.verb };
  const preview = useCall("actOnExperiments", { ...request, dryRun: true }, { fresh: true });
  const act = useChange("actOnExperiments", ["listExperiments"]);
  const summary = preview.data === undefined ? null : summaryOf(preview.data.items);
  const willChange = summary?.changed.length ?? 0;
  const isConfirmed = !action.danger || typed.trim() === String(willChange);
  const run = (): void => tell(act.mutateAsync({ request: { ...request, reason: "" } }));
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${action.title} ${experiments(ids.length)}?`}
      description={action.means}
      actions={
        <>
          <Button onClick={onClose}>Leave them</Button>
          <Button
            look={action.danger ? "danger" : "primary"}
            disabled={willChange === 0 || !isConfirmed || act.isPending}
            onClick={run}
          >
            {action.title} {experiments(willChange)}
          </Button>
        </>
      }
    >
      <Preview
        summary={summary}
        error={preview.error}
        future={(count) => `${experiments(count)} will be ${action.done}`}
      />
      {action.danger && willChange > 0 && (
        <Field
          label={`Type ${willChange}, the number of experiments, to confirm`}
          inputMode="numeric"
          autoComplete="off"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
      )}
      {act.error !== null && <ErrorNote error={act.error} />}
    </Dialog>
  );
}
