import { type JSX, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { useChange } from "../../data/calls.ts";
import type { Experiment } from "./tabs.ts";

type Props = { readonly experiment: Experiment; readonly onClose: () => void };

/** Runs an ended experiment again: failed and canceled trials are retried, or its one trial trains for longer. */
export function ContinueDialog({ experiment, onClose }: Props): JSX.Element {
  const { id, searcher } = experiment;
  const isSingle = searcher === "single";
  const [amount, setAmount] = useState("");
  const act = useChange("continueExperiment", ["getExperiment", "listExperiments", "listTrials"]);
  const value = amount.trim() === "" ? undefined : Number(amount);
  const more = value === undefined ? {} : isSingle ? { maxLength: value } : { maxTrials: value };
  const isValid = value === undefined || (Number.isInteger(value) && value > 0);
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Continue experiment ${id}`}
      description="Trials that failed or were canceled are retried from their last checkpoint."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={!isValid || act.isPending}
            onClick={() =>
              act.mutate({ request: { experiment: id, ...more } }, { onSuccess: onClose })
            }
          >
            Continue
          </Button>
        </>
      }
    >
      {searcher !== "grid" && (
        <Field
          label={isSingle ? "Train up to" : "Trials in all"}
          hint={
            isSingle
              ? "In the unit of the configuration, counted from the start; empty for as long as before."
              : "More than the experiment had; empty for as many as before."
          }
          inputMode="numeric"
          value={amount}
          error={isValid ? undefined : "Enter a whole number above 0."}
          onChange={(event) => setAmount(event.target.value)}
        />
      )}
      {act.error !== null && <ErrorNote error={act.error} />}
    </Dialog>
  );
}
