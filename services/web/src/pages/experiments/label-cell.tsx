import { Pencil } from "lucide-react";
import { type JSX, type KeyboardEvent, useEffect, useRef, useState } from "react";
import { areText, labelChange } from "../../components/labels.ts";
import { useSay } from "../../components/toasts.tsx";
import { useChange } from "../../data/calls.ts";
import { useMay } from "../../data/may.ts";
import styles from "./page.module.css";

const commaSentence =
  "A label of this experiment has a comma in it: edit the labels with yard or Python.";

type Props = {
  readonly row: {
    readonly id: string;
    readonly labels: readonly string[];
    readonly etag: string;
    readonly workspace: string;
    readonly owner: string;
  };
  readonly editing: boolean;
  readonly onEdit: (editing: boolean) => void;
};

/** The labels of an experiment, edited in place as a text with commas. */
export function LabelCell(props: Props): JSX.Element {
  const { row, editing, onEdit } = props;
  const mayEdit = useMay()("updateExperiment", row);
  if (editing && mayEdit) return <Editor {...props} />;
  return (
    <span className={styles["labels"]} title={row.labels.join(", ")}>
      {row.labels.map((label) => (
        <span key={label} className={styles["label"]}>
          {label}
        </span>
      ))}
      {mayEdit && (
        <button
          type="button"
          tabIndex={-1}
          className={styles["edit"]}
          aria-label={`Edit the labels of experiment ${row.id}`}
          title="Edit the labels (l)"
          onClick={() => onEdit(true)}
        >
          <Pencil size={12} aria-hidden />
        </button>
      )}
    </span>
  );
}

function Editor(props: Props): JSX.Element {
  /** The row from when the editor opened: later changes by others are not overwritten. */
  const [row] = useState(props.row);
  return areText(row.labels) ? <TextEditor {...props} row={row} /> : <Refusal {...props} />;
}

function Refusal({ onEdit }: Props): null {
  const say = useSay();
  useEffect(() => {
    say.done(commaSentence);
    onEdit(false);
    // oxlint-disable-next-line react/exhaustive-deps — the message is shown once, when the editor would open
  }, []);
  return null;
}

function TextEditor({ row, onEdit }: Props): JSX.Element {
  const input = useRef<HTMLInputElement>(null);
  const isDone = useRef(false);
  const say = useSay();
  const update = useChange("updateExperiment", ["listExperiments"]);
  const close = (save: boolean, byKey: boolean): void => {
    // A removed field loses the focus, which must not end the editing a second time.
    if (isDone.current) return;
    isDone.current = true;
    const change = save ? labelChange(row.labels, input.current?.value ?? "") : null;
    const grid = input.current?.closest<HTMLElement>("[role=grid]");
    onEdit(false);
    if (byKey) grid?.focus({ preventScroll: true });
    if (change === null) return;
    update
      .mutateAsync({ request: { experiment: row.id, ...change }, ifMatch: row.etag })
      .then(() => say.done(`The labels of experiment ${row.id} are saved.`), say.failed);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Enter") close(true, true);
    if (event.key === "Escape") close(false, true);
  };
  return (
    <input
      ref={input}
      autoFocus
      className={styles["labelInput"]}
      aria-label={`Labels of experiment ${row.id}, with commas between them`}
      defaultValue={row.labels.join(", ")}
      onKeyDown={onKeyDown}
      onBlur={() => close(true, false)}
    />
  );
}
