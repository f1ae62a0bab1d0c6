import { X } from "lucide-react";
import { type JSX, type KeyboardEvent, useId, useState } from "react";
import { Button } from "./button.tsx";
import { Field } from "./field.tsx";
import styles from "./names-field.module.css";

type Props = {
  readonly label: string;
  readonly hint?: string;
  /** The chosen names. */
  readonly names: readonly string[];
  /** Names that the browser offers while somebody types. */
  readonly offered: readonly string[];
  readonly onAdd: (name: string) => void;
  readonly onRemove: (name: string) => void;
  readonly disabled?: boolean;
};

/** A list of names: each has a button that removes it, and Enter in the field adds one. */
export function NamesField(props: Props): JSX.Element {
  const { label, hint, names, offered, onAdd, onRemove, disabled = false } = props;
  const [typed, setTyped] = useState("");
  const list = useId();
  const add = (): void => {
    const name = typed.trim();
    if (name === "") return;
    setTyped("");
    if (!names.includes(name)) onAdd(name);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing || typed.trim() === "") return;
    event.preventDefault();
    add();
  };
  return (
    <div className={styles["names"]}>
      <div className={styles["add"]}>
        <Field
          label={label}
          hint={hint}
          list={list}
          autoComplete="off"
          value={typed}
          disabled={disabled}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <Button disabled={disabled || typed.trim() === ""} onClick={add}>
          Add
        </Button>
      </div>
      <datalist id={list}>
        {offered
          .filter((name) => !names.includes(name))
          .map((name) => (
            <option key={name} value={name} />
          ))}
      </datalist>
      {names.length > 0 && (
        <ul className={styles["chosen"]} aria-label={label}>
          {names.map((name) => (
            <li key={name}>
              {name}
              <button
                type="button"
                aria-label={`Remove ${name}`}
                title={`Remove ${name}`}
                disabled={disabled}
                onClick={() => onRemove(name)}
              >
                <X size={12} aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
