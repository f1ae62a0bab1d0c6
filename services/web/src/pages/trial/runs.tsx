import { Link } from "@tanstack/react-router";
import type { JSX } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { duration, time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import list from "../../components/runs-list.module.css";
import { runState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { useCheckpointSteps } from "./use-checkpoint-steps.ts";
import type { ShownRun, TabProps } from "./trial.ts";
import styles from "./trial.module.css";

/** Each start of the trial's processes, the latest first: why it ended, where it ran, what it waited for. */
export function Runs({ trial }: TabProps): JSX.Element {
  const steps = useCheckpointSteps(trial);
  if (trial.runs.length === 0) {
    return (
      <EmptyState title="No run yet." command={`yard trial describe ${trial.id}`}>
        The trial waits until its experiment asks the cluster for slots.
      </EmptyState>
    );
  }
  return (
    <ol className={list["runs"]}>
      {trial.runs.toReversed().map((run) => (
        <li key={run.id}>
          <Run run={run} trial={trial.id} step={steps.get(run.fromCheckpoint)} />
        </li>
      ))}
    </ol>
  );
}

type Props = { readonly run: ShownRun; readonly trial: string; readonly step: number | undefined };

function Run({ run, trial, step }: Props): JSX.Element {
  const { requestedAtMs, startedAtMs, endedAtMs, placements, message, waitsFor } = run;
  const waited = (startedAtMs ?? endedAtMs ?? requestedAtMs) - requestedAtMs;
  const [said = "", ...more] = message.split("\n");
  return (
    <section aria-label={`Run ${run.number}`}>
      <header className={list["run"]}>
        <h2>Run {run.number}</h2>
        <StateBadge state={runState(run)} />
        <span className={styles["said"]}>{said}</span>
        <Link to="/trials/$trial" params={{ trial }} search={{ tab: "logs", run: run.number }}>
          Logs of this run
        </Link>
      </header>
      {more.length > 0 && <pre className={styles["traceback"]}>{more.join("\n")}</pre>}
      <FactList
        facts={[
          ["Failures in a row", (run.triesInRow ?? 1) > 1 ? String(run.triesInRow) : ""],
          ["Waits for", waitsFor],
          ["Limit", run.waitLimit ?? ""],
          ["Requested", time(requestedAtMs)],
          [
            "Started",
            startedAtMs === undefined ? "" : `${time(startedAtMs)}, after ${duration(waited)}`,
          ],
          [
            "Ended",
            endedAtMs === undefined
              ? ""
              : `${time(endedAtMs)}, after ${duration(endedAtMs - (startedAtMs ?? requestedAtMs))}`,
          ],
          ["Begins from", fromText(run.fromCheckpoint, step)],
          ["Placed on", placements.map(placeText).join(", ")],
          ["Reached at", addresses(run)],
        ]}
      />
    </section>
  );
}

function fromText(checkpoint: string, step: number | undefined): string {
  if (checkpoint === "") return "the start";
  const at = step === undefined ? "" : `, step ${step}`;
  return `checkpoint ${checkpoint.slice(0, 8)}${at}`;
}

function placeText({ agent, slots, nodeRank }: ShownRun["placements"][number]): string {
  const of =
    slots.length === 0 ? "no slot" : `${slots.length === 1 ? "slot" : "slots"} ${slots.join(", ")}`;
  return `${agent} (${of}${nodeRank === 0 ? "" : `, node ${nodeRank}`})`;
}

const addresses = ({ placements }: ShownRun): string =>
  placements.flatMap(({ proxy }) => proxy?.addresses ?? []).join(", ");
