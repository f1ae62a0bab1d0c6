import { OctagonX, RotateCcw } from "lucide-react";
import { type JSX, useState } from "react";
import { useChange } from "../../app/calls.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import type { ShownTrial } from "./trial.ts";
import styles from "./trial.module.css";

/** What can be done to a trial now: to kill one that runs, to restart one that failed or was canceled. */
export function Verbs({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  const restart = useChange("restartTrial", ["getTrial", "listTrials"]);
  const [isKilling, setKilling] = useState(false);
  const mayRestart = trial.state === "ERROR" || trial.state === "CANCELED";
  return (
    <div className={styles["verbs"]}>
      {restart.error !== null && <ErrorNote error={restart.error} />}
      {mayRestart && (
        <Button
          disabled={restart.isPending}
          title="Continues from its latest checkpoint"
          onClick={() => restart.mutate({ request: { trial: trial.id } })}
        >
          <RotateCcw size={14} aria-hidden /> Restart
        </Button>
      )}
      {trial.endedAtMs === undefined && (
        <Button look="danger" onClick={() => setKilling(true)}>
          <OctagonX size={14} aria-hidden /> Kill
        </Button>
      )}
      <KillDialog trial={trial.id} open={isKilling} onClose={() => setKilling(false)} />
    </div>
  );
}

type Killing = { readonly trial: string; readonly open: boolean; readonly onClose: () => void };

function KillDialog({ trial, open, onClose }: Killing): JSX.Element {
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
