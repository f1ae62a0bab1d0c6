import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { ContinueDialog } from "./continue-dialog.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import type { Experiment } from "./tabs.ts";
import { type Confirmed, confirmations, type Plain, verbsOf } from "./verbs-of.ts";

/** The actions on the experiment in its current state, and the dialogs that ask first. */
export function useVerbs(experiment: Experiment): {
  readonly verbs: readonly Verb[];
  readonly dialog: JSX.Element | null;
} {
  const [open, setOpen] = useState<Confirmed | "fork" | "continue" | null>(null);
  const say = useSay();
  const act = useChange("actOnExperiments", ["getExperiment", "listExperiments", "listTrials"]);
  const { id } = experiment;
  const close = () => setOpen(null);
  const run = (verb: Plain): void => {
    act.mutate(
      { request: { experiments: [id], verb } },
      {
        onSuccess: ({ items }) => {
          const [item] = items;
          if (item?.outcome === "refused") say.failed(new Error(item.detail));
        },
        onError: (error) => say.failed(error),
      },
    );
  };
  const verbs = verbsOf(experiment).map((verb): Verb => {
    if (verb.kind === "now") {
      return { title: verb.title, disabled: act.isPending, run: () => run(verb.verb) };
    }
    return { title: verb.title, danger: verb.kind === "confirmed", run: () => setOpen(verb.verb) };
  });
  return { verbs, dialog: open === null ? null : dialogOf(open, experiment, close) };
}

function dialogOf(
  open: Confirmed | "fork" | "continue",
  experiment: Experiment,
  onClose: () => void,
): JSX.Element {
  if (open === "fork") return <ForkDialog experiment={experiment.id} onClose={onClose} />;
  if (open === "continue") return <ContinueDialog experiment={experiment} onClose={onClose} />;
  return <ConfirmDialog verb={open} experiment={experiment.id} onClose={onClose} />;
}

type ConfirmProps = {
  readonly verb: Confirmed;
  readonly experiment: string;
  readonly onClose: () => void;
};

function ConfirmDialog({ verb, experiment, onClose }: ConfirmProps): JSX.Element {
  const { title, means } = confirmations[verb];
  const [reason, setReason] = useState("");
  const act = useChange("actOnExperiments", ["getExperiment", "listExperiments", "listTrials"]);
  const [refused, setRefused] = useState("");
  const submit = () =>
    act.mutate(
      { request: { experiments: [experiment], verb, reason } },
      {
        onSuccess: ({ items }) => {
          const [item] = items;
          if (item?.outcome === "refused") setRefused(item.detail);
          else onClose();
        },
      },
    );
  return (
    <Dialog
      open
      onClose={onClose}
      title={`${title} experiment ${experiment}?`}
      description={means}
      actions={
        <>
          <Button onClick={onClose}>Leave it</Button>
          <Button look="danger" disabled={act.isPending} onClick={submit}>
            {title}
          </Button>
        </>
      }
    >
      <Field
        label="Reason"
        hint="Optional; it is recorded."
        value={reason}
        onChange={(event) => setReason(event.target.value)}
      />
      {act.error !== null && <ErrorNote error={act.error} />}
      {refused !== "" && <ErrorNote error={new Error(refused)} />}
    </Dialog>
  );
}
