import { type ComponentPropsWithRef, type JSX, type ReactNode, useId } from "react";
import styles from "./field.module.css";

type Text = {
  readonly label: string;
  /** Under the field: what it takes. */
  readonly hint?: ReactNode;
  /** Under the field: what is wrong with it, and what to do. */
  readonly error?: ReactNode;
  /** The label is only read aloud: for fields in bars, whose placeholder says it. */
  readonly labelHidden?: boolean;
};

type Described = {
  readonly id: string;
  readonly className: string | undefined;
  readonly "aria-describedby": string | undefined;
  readonly "aria-invalid": boolean;
};

/** A line of text with its label, its hint and its error. */
export function Field(props: Text & ComponentPropsWithRef<"input">): JSX.Element {
  const { label, hint, error, labelHidden, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, labelHidden }}>
      {(described) => <input {...rest} {...described} />}
    </Labelled>
  );
}

/** The same for text of several lines. */
export function TextArea(props: Text & ComponentPropsWithRef<"textarea">): JSX.Element {
  const { label, hint, error, labelHidden, ...rest } = props;
  return (
    <Labelled {...{ label, hint, error, labelHidden }}>
      {(described) => <textarea {...rest} {...described} />}
    </Labelled>
  );
}

/** The same for a choice of a few: children are `option` elements. */
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
