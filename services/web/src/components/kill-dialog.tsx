import { type JSX, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { ErrorNote } from "./error-note.tsx";
import { Field } from "./field.tsx";

type Props = {
  /** The object that is killed, such as "trial 12.3". */
  readonly what: string;
  /** The effect, in a sentence. */
  readonly description: string;
  readonly open: boolean;
  readonly onClose: () => void;
  readonly kill: (reason: string) => void;
  readonly isPending: boolean;
  readonly error: Error | null;
};

/** The question before a trial or a task is killed, with a reason that is shown with it. */
export function KillDialog(props: Props): JSX.Element {
  const { what, description, open, onClose, kill, isPending, error } = props;
  const [reason, setReason] = useState("");
  const kind = what.split(" ")[0];
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title={`Kill ${what}`}
      description={description}
      actions={
        <>
          <Button onClick={onClose}>Keep it</Button>
          <Button look="danger" disabled={isPending} onClick={() => kill(reason)}>
            Kill
          </Button>
        </>
      }
    >
      <Field
        label="Reason"
        hint={`Optional; it is shown with the ${kind}.`}
        maxLength={1_000}
        value={reason}
        onChange={({ target }) => setReason(target.value)}
      />
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}
