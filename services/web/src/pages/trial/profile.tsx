import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { Choice } from "../../components/field.tsx";
import { count, duration, number } from "../../components/format.ts";
import { LoadingText } from "../../components/skeleton.tsx";
import { useCall } from "../../data/calls.ts";
import { Devices } from "./profile-devices.tsx";
import styles from "./trial.module.css";
import type { TabProps } from "./trial.ts";
import { useWholeList } from "./use-whole-list.ts";

type TrialProfile = ReplyOf<"getTrialProfile">;

const pageSize = 1_000;
const pagesMax = 20;

/** The load of a run's machines during training, by node and device. */
export function Profile({ trial, search, onSearch }: TabProps): JSX.Element {
  const watch = { kind: "trials", experiment: trial.experiment, id: trial.id };
  const asked = { trial: trial.id, run: search.run ?? 0, pageSize };
  const profile = useCall("getTrialProfile", asked, { watch });
  const points = useWholeList("listTrialSystemMetrics", { trial: trial.id, pageSize }, pagesMax);
  if (profile.error !== null) {
    return <ErrorNote error={profile.error} onRetry={() => void profile.refetch()} />;
  }
  if (profile.data === undefined) return <LoadingText label="the profile" />;
  const { run, runs, nextPageToken } = profile.data;
  if (runs.length === 0) {
    return (
      <EmptyState title="The trial was not profiled." command={`yard trial profile ${trial.id}`}>
        {profile.data.enabled
          ? "The first sample comes some seconds after a run has started."
          : "Write profiling: {enabled: true} into the experiment's configuration, or call ctx.profiler.on() in the script."}
      </EmptyState>
    );
  }
  return (
    <div className={styles["profile"]}>
      <header className={styles["run"]}>
        <Choice
          label="Run"
          labelHidden
          value={run}
          onChange={({ target }) => onSearch({ run: Number(target.value) })}
        >
          {runs.map((one) => (
            <option key={one} value={one}>
              Run {one}
            </option>
          ))}
        </Choice>
        <span className={styles["muted"]}>{paceText(profile.data)}</span>
      </header>
      <Devices key={run} profile={profile.data} run={run} points={points.rows} />
      {nextPageToken !== "" && (
        <p className={styles["muted"]}>
          These are the first {count(profile.data.summaries.length)} figures:{" "}
          <code>yard trial profile {trial.id}</code> prints all.
        </p>
      )}
      {points.isPartial && (
        <p className={styles["muted"]}>
          The curves show the first {count(points.rows?.length ?? 0)} reports; the figures are of
          all.
        </p>
      )}
      {profile.data.tensorboardPath !== "" && (
        <p className={styles["muted"]}>
          TensorBoard files: <code>{profile.data.tensorboardPath}</code>
        </p>
      )}
    </div>
  );
}

function paceText({ pace }: TrialProfile): string {
  if (pace === undefined || pace.seconds <= 0) return "";
  return `${number(pace.steps / pace.seconds)} steps a second over ${duration(pace.seconds * 1_000)}`;
}
