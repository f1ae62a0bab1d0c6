import { Pencil } from "lucide-react";
import { type JSX, type KeyboardEvent, type ReactNode, useId, useRef, useState } from "react";
import styles from "./edit-in-place.module.css";
import { shownError } from "./problem.ts";

type Props = {
  /** The name of the text, such as "name of experiment 12". */
  readonly label: string;
  readonly text: string;
  /** The text as it is shown; absent: the text itself. */
  readonly children?: ReactNode;
  readonly editing: boolean;
  readonly onEdit: (editing: boolean) => void;
  /** Saves the text. If the promise rejects, the field stays open with the text and the reason. */
  readonly save: (text: string) => Promise<unknown>;
  /** How the text is written, for example "Labels, separated by commas." */
  readonly hint?: string;
  /** The caller may not edit the text, which is then shown without the button. */
  readonly fixed?: boolean;
};

/** A text with a button that edits it in its place: Enter saves, Escape discards. */
export function EditInPlace(props: Props): JSX.Element {
  const { label, text, editing, onEdit } = props;
  const { children = <span className={styles["text"]}>{text}</span> } = props;
  const button = useRef<HTMLButtonElement>(null);
  const leave = (): void => {
    onEdit(false);
    // The button is drawn again in the same commit.
    queueMicrotask(() => button.current?.focus());
  };
  if (props.fixed === true) return <span className={styles["shown"]}>{children}</span>;
  if (editing) return <Editor {...props} leave={leave} />;
  return (
    <span className={styles["shown"]}>
      {children}
      <button
        ref={button}
        type="button"
        className={styles["edit"]}
        aria-label={`Edit the ${label}`}
        title={`Edit the ${label}`}
        onClick={() => onEdit(true)}
      >
        <Pencil size={12} aria-hidden />
      </button>
    </span>
  );
}

function Editor(props: Props & { readonly leave: () => void }): JSX.Element {
  const { label, text: before, save, leave, onEdit, hint = "" } = props;
  const [text, setText] = useState(before);
  const [refusal, setRefusal] = useState("");
  const [isSaving, setIsSaving] = useState(false);
  const note = useId();
  const submit = (): void => {
    if (isSaving) return;
    if (text === before && refusal === "") {
      leave();
      return;
    }
    setIsSaving(true);
    save(text).then(leave, (error: unknown) => {
      const { what, todo } = shownError(error);
      setRefusal(`${what} ${todo}`.trim());
      setIsSaving(false);
    });
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    event.stopPropagation();
    if (event.key === "Enter" && !event.nativeEvent.isComposing) submit();
    if (event.key === "Escape") leave();
  };
  return (
    <span className={styles["editing"]}>
      <input
        autoFocus
        aria-label={label.charAt(0).toUpperCase() + label.slice(1)}
        aria-describedby={note}
        aria-invalid={refusal !== ""}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => {
          // A changed text stays until it is saved or discarded.
          if (text === before) onEdit(false);
        }}
      />
      <span id={note} className={styles["note"]} data-refused={refusal !== ""}>
        {refusal === "" ? `${hint} Enter saves, Escape discards.`.trim() : refusal}
      </span>
      {refusal !== "" && (
        <span className="visually-hidden" role="alert">
          {refusal}
        </span>
      )}
    </span>
  );
}
