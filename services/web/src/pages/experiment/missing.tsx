import { ApiError } from "@trainyard/client";
import type { JSX } from "react";
import { BringBack } from "../../components/bring-back.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { time } from "../../components/format.ts";
import { useList } from "../../data/calls.ts";
import styles from "./page.module.css";

/** True for an unknown experiment, and for one that was deleted while it was shown. */
export const isMissing = (error: unknown): boolean =>
  error instanceof ApiError && error.problem.status === 404;

type Props = {
  readonly experiment: string;
  readonly error: unknown;
  readonly onRetry: () => void;
};

/** The reason that the experiment is not shown; a deleted one can be brought back here during its grace. */
export function Missing({ experiment, error, onRetry }: Props): JSX.Element {
  const options = { enabled: isMissing(error) };
  const deleted = useList("listDeletedExperiments", { pageSize: 200 }, options);
  const found = deleted.data?.pages
    .flatMap(({ items }) => items)
    .find(({ id }) => id === experiment);
  if (found === undefined) return <ErrorNote error={error} onRetry={onRetry} />;
  return (
    <div className={styles["deleted"]}>
      <p>
        Experiment {experiment} ({found.name}) is deleted
        {found.reason === "" ? "" : `: ${found.reason}`}. It can be brought back until{" "}
        {time(found.graceEndMs)}.
      </p>
      <BringBack experiment={experiment} />
    </div>
  );
}
