import type { JSX } from "react";
import { ErrorNote } from "./error-note.tsx";
import styles from "./over-note.module.css";

type Props = {
  /** The error that a call threw; null for none. */
  readonly error: unknown;
  readonly onRetry?: (() => void) | undefined;
  /** The list is empty, so the note is at its top. */
  readonly alone?: boolean;
};

/** An error, drawn over the end of its list or page: nothing moves when it comes and goes. */
export function OverNote({ error, onRetry, alone = false }: Props): JSX.Element | null {
  if (error === null || error === undefined) return null;
  return (
    <div className={styles["over"]} data-alone={alone}>
      <ErrorNote error={error} {...(onRetry === undefined ? {} : { onRetry })} />
    </div>
  );
}
