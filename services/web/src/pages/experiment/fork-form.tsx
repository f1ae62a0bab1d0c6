import { type JSX, useEffect, useMemo, useRef, useState } from "react";
import { CodeEditor } from "../../components/code-editor.tsx";
import { Field } from "../../components/field.tsx";
import styles from "./fork-dialog.module.css";
import { type ForkField, type ForkFields, readFields, withField } from "./fork-fields.ts";

type Props = {
  readonly text: string;
  readonly onText: (text: string) => void;
};

const noFields: ForkFields = { hyperparameters: [], resources: [] };

/** Hyperparameters and resources as fields, with the text beside them: an edit of one appears in the other. */
export function ForkForm({ text, onText }: Props): JSX.Element {
  const read = useMemo(() => readFields(text), [text]);
  /** The fields of the last valid text stay, disabled, while a text is not valid. */
  const last = useRef(noFields);
  if ("fields" in read) last.current = read.fields;
  const problem = "problem" in read ? read.problem : "";
  const { hyperparameters, resources } = last.current;
  const first = useRef<HTMLInputElement>(null);
  useEffect(() => first.current?.focus(), []);
  const fieldsOf = (fields: readonly ForkField[], isFirst: boolean) =>
    fields.map((field, at) => (
      <ValueField
        key={field.path.join(".")}
        ref={isFirst && at === 0 ? first : undefined}
        field={field}
        disabled={problem !== ""}
        change={(value) => {
          const result = withField(text, field, value);
          if ("problem" in result) return result.problem;
          onText(result.text);
          return "";
        }}
      />
    ));
  return (
    <div className={styles["split"]}>
      <div className={styles["form"]}>
        <fieldset>
          <legend>Hyperparameters</legend>
          {hyperparameters.length === 0 && <p className={styles["muted"]}>The text has none.</p>}
          {fieldsOf(hyperparameters, true)}
        </fieldset>
        <fieldset>
          <legend>Resources</legend>
          {fieldsOf(resources, hyperparameters.length === 0)}
        </fieldset>
      </div>
      <div className={styles["text"]}>
        <CodeEditor label="Configuration" text={text} onChange={onText} />
        <p role="status" className={styles["problem"]}>
          {problem}
        </p>
      </div>
    </div>
  );
}

type ValueProps = {
  readonly ref: React.Ref<HTMLInputElement> | undefined;
  readonly field: ForkField;
  readonly disabled: boolean;
  /** Changes the value, and returns the reason if it cannot. */
  readonly change: (value: string) => string;
};

/** A field keeps what is typed, for example a space at its end, while the text has the value without it. */
function ValueField({ ref, field, disabled, change }: ValueProps): JSX.Element {
  const [typed, setTyped] = useState(field.text);
  const [seen, setSeen] = useState(field.text);
  const [refused, setRefused] = useState("");
  if (field.text !== seen) {
    setSeen(field.text);
    if (field.text !== typed.trim()) {
      setTyped(field.text);
      setRefused("");
    }
  }
  return (
    <Field
      {...(ref === undefined ? {} : { ref })}
      label={field.label}
      value={typed}
      disabled={disabled}
      placeholder={field.path[0] === "hyperparameters" ? "" : "default"}
      error={refused === "" ? undefined : refused}
      onChange={({ target }) => {
        setTyped(target.value);
        setRefused(change(target.value));
      }}
    />
  );
}
