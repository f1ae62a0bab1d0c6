import { type ComponentPropsWithRef, type JSX, type ReactNode, useId } from "react";
import styles from "./field.module.css";

type Text = {
  readonly label: string;
  /** Below the field: the expected input. */
  readonly hint?: ReactNode;
  /** Below the field: the error and its remedy. */
  readonly error?: ReactNode;
  /** The label is only for screen readers: for fields in bars, which have a placeholder. */
  readonly labelHidden?: boolean;
};

type Described = {
  readonly id: string;
  readonly className: string | undefined;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
};

/** A single-line text field with its label, hint and error. */
export function Field(props: Text & ComponentPropsWithRef<"input">): JSX.Element {
  const { label, hint, error, labelHidden, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, labelHidden }}>
      {(described) => <input {...rest} {...described} />}
    </Labelled>
  );
}

/** A multi-line text field with its label, hint and error. */
export function TextArea(props: Text & ComponentPropsWithRef<"textarea">): JSX.Element {
  const { label, hint, error, labelHidden, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, labelHidden }}>
      {(described) => <textarea {...rest} {...described} />}
    </Labelled>
  );
}

/** A selection with its label, hint and error; children are `option` elements. */
export function Choice(props: Text & ComponentPropsWithRef<"select">): JSX.Element {
  const { label, hint, error, labelHidden, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, labelHidden }}>
      {(described) => <select {...rest} {...described} />}
    </Labelled>
  );
}

function Labelled({
  label,
  hint,
  error,
  labelHidden = false,
  children,
}: {
  readonly label: string;
  readonly hint: ReactNode;
  readonly error: ReactNode;
  readonly labelHidden: boolean | undefined;
  readonly children: (described: Described) => ReactNode;
}): JSX.Element {
  const id = useId();
  const said = error ?? hint;
  const described = {
    id,
    className: styles["input"],
    "aria-describedby": said === undefined ? undefined : `${id}-said`,
    "aria-invalid": error !== undefined,
  };
  return (
    <div className={styles["field"]}>
      <label htmlFor={id} className={labelHidden ? "visually-hidden" : styles["label"]}>
        {label}
      </label>
      {children(described)}
      {said !== undefined && (
        <p id={`${id}-said`} className={error === undefined ? styles["hint"] : styles["error"]}>
          {said}
        </p>
      )}
    </div>
  );
}
