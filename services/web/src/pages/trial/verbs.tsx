import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import type { ShownTrial } from "./trial.ts";

/** The current actions on a trial: kill one that has not ended, restart one that failed or was canceled. */
export function useVerbs({ id, state, endedAtMs }: ShownTrial) {
  const restart = useChange("restartTrial", ["getTrial", "listTrials"]);
  const say = useSay();
  const [killing, setKilling] = useState(false);
  const verbs: readonly Verb[] = [
    ...(state === "ERROR" || state === "CANCELED"
      ? [
          {
            title: "Restart",
            disabled: restart.isPending,
            run: () => restart.mutate({ request: { trial: id } }, { onError: say.failed }),
          },
        ]
      : []),
    ...(endedAtMs === undefined
      ? [{ title: "Kill", danger: true, run: () => setKilling(true) }]
      : []),
  ];
  return { verbs, killing, setKilling };
}

type Killing = { readonly trial: string; readonly open: boolean; readonly onClose: () => void };

export function KillDialog({ trial, open, onClose }: Killing): JSX.Element {
  const kill = useChange("killTrial", ["getTrial", "listTrials"]);
  const [reason, setReason] = useState("");
  const doIt = () => kill.mutate({ request: { trial, reason } }, { onSuccess: onClose });
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Kill trial ${trial}`}
      description="Its processes end at once and store no checkpoint. The other trials of the experiment continue."
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={kill.isPending} onClick={doIt}>
            Kill
          </Button>
        </>
      }
    >
      <Field
        label="Reason"
        hint="Optional; it is shown with the trial."
        maxLength={1_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {kill.error !== null && <ErrorNote error={kill.error} />}
    </Dialog>
  );
}
