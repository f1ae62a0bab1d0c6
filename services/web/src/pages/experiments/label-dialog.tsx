import { type JSX, useId, useState } from "react";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Field } from "../../components/field.tsx";
import { labelsOf } from "../../components/labels.ts";
import { useCall, useChange } from "../../data/calls.ts";
import { useSettled } from "../../data/settled.ts";
import { experiments, summaryOf } from "./outcomes.ts";
import { Preview } from "./preview.tsx";
import { useOutcome } from "./use-outcome.ts";

type Props = {
  readonly ids: readonly string[];
  /** The labels of the selected rows. */
  readonly labels: readonly string[];
  readonly onClose: () => void;
  readonly onDone: () => void;
};

type Texts = { readonly adding: string; readonly removing: string };

/** Adds labels to and removes labels from several experiments, after a preview by the server. */
export function LabelDialog({ ids: selected, labels, onClose, onDone }: Props): JSX.Element {
  const [ids] = useState(selected);
  const [texts, setTexts] = useState<Texts>({ adding: "", removing: "" });
  const settled = useSettled(texts);
  const form = useId();
  const tell = useOutcome("labelled", onDone);
  const request = {
    experiments: [...ids],
    addLabels: [...labelsOf(settled.adding)],
    removeLabels: [...labelsOf(settled.removing)],
  };
  const enabled = request.addLabels.length + request.removeLabels.length > 0;
  const options = { fresh: true, enabled };
  const preview = useCall("labelExperiments", { ...request, dryRun: true }, options);
  const label = useChange("labelExperiments", ["listExperiments"]);
  const summary = preview.data === undefined ? null : summaryOf(preview.data.items);
  const willChange = summary?.changed.length ?? 0;
  const isReady = enabled && settled === texts && willChange > 0 && !label.isPending;
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Label ${experiments(ids.length)}`}
      actions={
        <>
          <Button onClick={onClose}>Leave them</Button>
          <Button look="primary" type="submit" form={form} disabled={!isReady}>
            Label {experiments(willChange)}
          </Button>
        </>
      }
    >
      <form
        id={form}
        onSubmit={(event) => {
          event.preventDefault();
          if (isReady) tell(label.mutateAsync({ request }));
        }}
      >
        <Fields labels={labels} texts={texts} onTexts={setTexts} />
      </form>
      {enabled && (
        <Preview
          summary={summary}
          error={preview.error}
          future={(count) => `${experiments(count)} will be labelled`}
        />
      )}
      {label.error !== null && <ErrorNote error={label.error} />}
    </Dialog>
  );
}

function Fields(props: {
  readonly labels: readonly string[];
  readonly texts: Texts;
  readonly onTexts: (texts: Texts) => void;
}): JSX.Element {
  const { labels, texts, onTexts } = props;
  return (
    <>
      <Field
        label="Add labels"
        hint="Labels, separated by commas."
        autoFocus
        value={texts.adding}
        onChange={({ target }) => onTexts({ ...texts, adding: target.value })}
      />
      <Field
        label="Remove labels"
        hint={
          labels.length === 0
            ? "The experiments have no labels."
            : `Labels of the experiments: ${labels.join(", ")}.`
        }
        value={texts.removing}
        onChange={({ target }) => onTexts({ ...texts, removing: target.value })}
      />
    </>
  );
}
