import {
  type FormEvent,
  type JSX,
  type KeyboardEvent,
  type ReactNode,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import styles from "./filter-field.module.css";
import { aroundFault, filterFault } from "./problem.ts";

type Props = {
  readonly label?: string;
  readonly placeholder: string;
  /** The filter of the URL. */
  readonly filter: string;
  readonly onFilter: (filter: string) => void;
  /** The error of the list that was read with this filter. */
  readonly error: unknown;
  /** Buttons beside the field. */
  readonly children?: ReactNode;
};

/**
 * The filter of a list. Enter applies it, and the field says so while its text is not applied. The server's error is
 * shown at its column, over the list, whose last result stays.
 */
export function FilterField(props: Props): JSX.Element {
  const { label = "Filter", placeholder, filter, onFilter, error, children } = props;
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState(filter);
  useEffect(() => setText(filter), [filter]);
  const fault = text === filter ? filterFault(error) : null;
  const submit = (event: FormEvent): void => {
    event.preventDefault();
    onFilter(text.trim());
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key !== "Escape") return;
    setText(filter);
    input.current?.blur();
  };
  return (
    <form role="search" className={styles["filter"]} onSubmit={submit}>
      <div className={styles["row"]}>
        <span className={styles["field"]}>
          <input
            ref={input}
            data-search
            className={styles["input"]}
            aria-label={label}
            aria-invalid={fault !== null}
            aria-describedby={fault === null ? undefined : id}
            placeholder={placeholder}
            spellCheck={false}
            autoComplete="off"
            value={text}
            onChange={(event) => setText(event.target.value)}
            onKeyDown={onKeyDown}
          />
          <EnterHint shown={text.trim() !== filter} />
        </span>
        {children}
      </div>
      {fault !== null && <Fault id={id} text={text} {...fault} />}
    </form>
  );
}

/** Says at the end of a field that Enter applies its text. Its parent is positioned. */
export function EnterHint({ shown }: { readonly shown: boolean }): JSX.Element | null {
  return shown ? <kbd className={styles["enter"]}>Enter ↵</kbd> : null;
}

function Fault(props: {
  readonly id: string;
  readonly text: string;
  readonly column: number;
  readonly detail: string;
}): JSX.Element {
  const [before, at, after] = aroundFault(props.text, props.column);
  return (
    <p id={props.id} role="alert" className={styles["fault"]}>
      <code aria-hidden>
        {before}
        <mark>{at}</mark>
        {after}
      </code>
      Column {props.column}: {props.detail}
    </p>
  );
}
