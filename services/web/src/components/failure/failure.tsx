import type { ReplyOf } from "@trainyard/contracts";
import type { JSX, ReactNode } from "react";
import { useCall } from "../../data/calls.ts";
import { ErrorNote } from "../error-note.tsx";
import { LogLines } from "../log-lines.tsx";
import { PathLink } from "../path-link.tsx";
import styles from "./failure.module.css";
import { failureLines } from "./failure-lines.ts";

type FailedTrial = Pick<ReplyOf<"getTrial">, "id" | "reason" | "runs">;

/** More lines than are shown, since states of a progress bar are left out. */
const linesRead = 100;

/** The reason that a trial failed: the last lines of its last run, each with a link to its place in the log. */
export function TrialFailure({ trial }: { readonly trial: FailedTrial }): JSX.Element {
  const run = trial.runs.at(-1)?.number;
  const ofRun = run === undefined ? {} : { run };
  const last = useCall("listTrialLogs", { trial: trial.id, tail: linesRead, ...ofRun });
  const errors = useCall("listTrialLogs", { trial: trial.id, tail: 1, level: "error", ...ofRun });
  const shown = failureLines(last.data?.items ?? []);
  const error = errors.data?.items.at(-1);
  const isAbove = error !== undefined && !shown.some(({ cursor }) => cursor === error.cursor);
  const hrefOf = (cursor: string): string => `/trials/${trial.id}?tab=logs&line=${cursor}`;
  const place = (error ?? shown.at(-1))?.cursor;
  return (
    <Failure reason={trial.reason.split("\n")[0] || "The trial failed"}>
      {last.error !== null && <ErrorNote error={last.error} />}
      <div className={styles["lines"]}>
        <LogLines lines={[...(isAbove ? [error] : []), ...shown]} hrefOf={hrefOf} />
      </div>
      {place !== undefined && (
        <PathLink to={hrefOf(place)}>
          {run === undefined ? "Logs at this line" : `Logs of run ${run} at this line`}
        </PathLink>
      )}
    </Failure>
  );
}

type Props = { readonly reason: ReactNode; readonly children?: ReactNode };

/** The reason of a failure, and what explains it. */
export function Failure({ reason, children }: Props): JSX.Element {
  return (
    <section className={styles["failure"]} aria-label="Why it failed">
      <h2>{reason}</h2>
      {children}
    </section>
  );
}
