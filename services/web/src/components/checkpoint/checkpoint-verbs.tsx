import type { ReplyOf, UnaryName } from "@trainyard/contracts";
import { type JSX, useState } from "react";
import { useChange } from "../../data/calls.ts";
import { useMayAnywhere, useMayOn } from "../../data/may.ts";
import { Button } from "../button.tsx";
import { Dialog } from "../dialog.tsx";
import { Command } from "../empty-state.tsx";
import { ErrorNote } from "../error-note.tsx";
import { Field } from "../field.tsx";
import { useSay } from "../toasts.tsx";
import styles from "./checkpoint.module.css";
import { RegisterDialog } from "./register-dialog.tsx";

type Checkpoint = ReplyOf<"getCheckpoint">;
type Opened = "pin" | "register" | "delete";

const refresh: readonly UnaryName[] = [
  "getCheckpoint",
  "explainCheckpoint",
  "listCheckpoints",
  "previewRetention",
];

/** The actions on a checkpoint: download, register, pin, verify, delete and bring back. */
export function CheckpointVerbs({ checkpoint }: { readonly checkpoint: Checkpoint }): JSX.Element {
  const { uuid, state, pins } = checkpoint;
  const [open, setOpen] = useState<Opened | null>(null);
  const say = useSay();
  const unpin = useChange("unpinCheckpoint", refresh);
  const undelete = useChange("undeleteCheckpoint", refresh);
  const verify = useChange("verifyCheckpoint", refresh);
  const failed = unpin.error ?? undelete.error ?? verify.error;
  const isComplete = state === "COMPLETED" || state === "PARTIALLY_DELETED";
  const close = () => setOpen(null);
  const may = useMayOn(checkpoint.experiment);
  const mayRegister = useMayAnywhere()("registerModelVersion");
  const isPinned = pins.some(({ holder, by }) => holder === by);
  const check = () =>
    verify.mutate(
      { request: { checkpoint: uuid } },
      { onSuccess: (found) => say.done(verificationText(found)) },
    );
  return (
    <>
      {isComplete && (
        <div className={styles["buttons"]}>
          <a href={`/api/v1/checkpoints/${uuid}/archive`} download>
            Download
          </a>
          {mayRegister && <Button onClick={() => setOpen("register")}>Register</Button>}
          {may("pinCheckpoint") && <Button onClick={() => setOpen("pin")}>Pin</Button>}
          {isPinned && may("unpinCheckpoint") && (
            <Button
              disabled={unpin.isPending}
              onClick={() => unpin.mutate({ request: { checkpoint: uuid } })}
            >
              Unpin
            </Button>
          )}
          {may("verifyCheckpoint") && (
            <Button disabled={verify.isPending} onClick={check}>
              Verify
            </Button>
          )}
          {may("deleteCheckpoint") && (
            <Button look="danger" onClick={() => setOpen("delete")}>
              Delete
            </Button>
          )}
        </div>
      )}
      {state === "CONDEMNED" && may("undeleteCheckpoint") && (
        <div className={styles["buttons"]}>
          <Button
            look="primary"
            disabled={undelete.isPending}
            onClick={() => undelete.mutate({ request: { checkpoint: uuid, reason: "" } })}
          >
            Bring it back
          </Button>
        </div>
      )}
      {isComplete && <Command text={`yard checkpoint download ${uuid}`} />}
      {failed !== null && <ErrorNote error={failed} />}
      {open === "register" && <RegisterDialog checkpoint={uuid} onClose={close} />}
      {open === "pin" && <ReasonDialog verb="pin" checkpoint={uuid} onClose={close} />}
      {open === "delete" && <ReasonDialog verb="delete" checkpoint={uuid} onClose={close} />}
    </>
  );
}

function verificationText({ done, count, files, extraCount }: ReplyOf<"verifyCheckpoint">): string {
  if (!done) return "Its files are being read: ask again in a while.";
  if (count > 0) return `${count} problems were found.`;
  const others = extraCount > 0 ? ` ${extraCount} other files are beside them.` : "";
  return `All ${files} files are intact.${others}`;
}

type DialogProps = { readonly checkpoint: string; readonly onClose: () => void };

const words = {
  pin: {
    title: "Pin",
    means: "No retention policy and no person deletes it for as long as it is pinned.",
    look: "primary",
  },
  delete: {
    title: "Delete",
    means:
      "It is deleted after the grace period, unless something holds it; until then it can be brought back.",
    look: "danger",
  },
} as const;

function ReasonDialog(props: DialogProps & { readonly verb: "pin" | "delete" }): JSX.Element {
  const { checkpoint, verb, onClose } = props;
  const { title, means, look } = words[verb];
  const [reason, setReason] = useState("");
  const pin = useChange("pinCheckpoint", refresh);
  const remove = useChange("deleteCheckpoint", refresh);
  const error = pin.error ?? remove.error;
  const change = { request: { checkpoint, reason } };
  const submit = () =>
    verb === "pin"
      ? pin.mutate(change, { onSuccess: onClose })
      : remove.mutate(change, { onSuccess: onClose });
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${title} checkpoint ${checkpoint.slice(0, 8)}`}
      description={means}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look={look} disabled={pin.isPending || remove.isPending} onClick={submit}>
            {title}
          </Button>
        </>
      }
    >
      <Field label="Reason" value={reason} onChange={(event) => setReason(event.target.value)} />
      {error !== null && <ErrorNote error={error} />}
    </Dialog>
  );
}
