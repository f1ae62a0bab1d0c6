import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import type { Verb } from "../../components/page/verbs.tsx";
import { useSay } from "../../components/toasts.tsx";
import { experimentPath } from "../../components/paths.ts";
import { useChange } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { useMay, useMayAnywhere } from "../../data/may.ts";
import { ContinueDialog } from "./continue-dialog.tsx";
import { ForkDialog } from "./fork-dialog.tsx";
import { MoveDialog } from "./move-dialog.tsx";
import type { Experiment } from "./tabs.ts";
import { useContinueRefusal } from "./use-continue-refusal.ts";
import {
  callOf,
  type DialogVerb,
  type Confirmed,
  confirmations,
  type Edited,
  type OfferedVerb,
  type OwnVerb,
  type Plain,
  verbsOf,
} from "./verbs-of.ts";

type Opened = Confirmed | DialogVerb;

/** The actions on the experiment in its current state, and the dialogs that ask first. */
export function useVerbs(
  experiment: Experiment,
  onEdit: (edited: Edited) => void,
): {
  readonly verbs: readonly Verb[];
  readonly ask: (asked: DialogVerb) => void;
  readonly dialog: JSX.Element | null;
} {
  const [open, setOpen] = useState<Opened | null>(null);
  const say = useSay();
  const act = useChange("actOnExperiments", ["getExperiment", "listExperiments", "listTrials"]);
  const continueRefusal = useContinueRefusal(experiment);
  const { id } = experiment;
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
  const started = (verb: OfferedVerb): (() => void) => {
    switch (verb.kind) {
      case "now":
        return () => run(verb.verb);
      case "edit":
        return () => onEdit(verb.verb);
      case "own":
        return () =>
          void own[verb.verb](id).then((said) => said !== "" && say.done(said), say.failed);
      default:
        return () => setOpen(verb.verb);
    }
  };
  const may = useMay();
  const mayFork = useMayAnywhere()("createExperiment");
  const isAllowed = ({ kind, verb }: OfferedVerb): boolean => {
    if (kind === "own") return true;
    return verb === "fork" ? mayFork : may(callOf[verb], experiment);
  };
  const allowed = verbsOf({ ...experiment, continueRefusal }).filter(isAllowed);
  const verbs = allowed.map((verb): Verb => {
    const { title, why } = verb;
    const disabled = why !== undefined || (verb.kind === "now" && act.isPending);
    return { title, why, disabled, danger: verb.kind === "confirmed", run: started(verb) };
  });
  const dialog = open === null ? null : dialogOf(open, experiment, () => setOpen(null));
  return { verbs, ask: setOpen, dialog };
}

/** Actions without a call that changes something; each returns what it has done, empty if the browser says it. */
const own: Readonly<Record<OwnVerb, (experiment: string) => Promise<string>>> = {
  "copy-link": async (id) => {
    await navigator.clipboard.writeText(`${location.origin}${experimentPath(id)}`);
    return `The link to experiment ${id} is copied.`;
  },
  "download-code": async (id) => {
    const { codeDigest } = await client.call("getSubmission", { experiment: id });
    if (codeDigest === "") throw new Error(`Experiment ${id} has no code`);
    const link = document.createElement("a");
    link.href = `/api/v1/experiments/${id}/code`;
    link.download = "";
    link.click();
    return "";
  },
};

function dialogOf(open: Opened, experiment: Experiment, onClose: () => void): JSX.Element {
  switch (open) {
    case "fork":
      return <ForkDialog experiment={experiment.id} onClose={onClose} />;
    case "continue":
      return <ContinueDialog experiment={experiment} onClose={onClose} />;
    case "move":
      return <MoveDialog experiment={experiment} onClose={onClose} />;
    default:
      return <ConfirmDialog verb={open} experiment={experiment.id} onClose={onClose} />;
  }
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
