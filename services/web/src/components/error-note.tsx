import { CircleAlert } from "lucide-react";
import type { JSX } from "react";
import { Button } from "./button.tsx";
import styles from "./error-note.module.css";
import { shownError } from "./problem.ts";

type Props = {
  /** The error that a call threw. */
  readonly error: unknown;
  /** Adds a button that retries. */
  readonly onRetry?: () => void;
};

/** A sentence about the error, and the remedy. */
export function ErrorNote({ error, onRetry }: Props): JSX.Element {
  const { what, todo, parts } = shownError(error);
  return (
    <div role="alert" className={styles["note"]}>
      <CircleAlert size={16} aria-hidden />
      <div>
        <p>
          {what} {todo}
        </p>
        {parts.length > 0 && (
          <ul>
            {parts.map(({ path, detail }) => (
              <li key={`${path} ${detail}`}>
                <code>{path}</code> {detail}
              </li>
            ))}
          </ul>
        )}
      </div>
      {onRetry !== undefined && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}
