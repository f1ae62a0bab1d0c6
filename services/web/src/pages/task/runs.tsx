import type { ReplyOf } from "@trainyard/contracts";
import type { JSX } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { duration, time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import list from "../../components/runs-list.module.css";
import { runState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";

type Run = ReplyOf<"getTask">["runs"][number];

/** Each start of the task's processes, the latest first: why it ended, where it ran, what it waited for. */
export function Runs({ runs }: { readonly runs: readonly Run[] }): JSX.Element {
  if (runs.length === 0) return <EmptyState title="No run yet." />;
  return (
    <ol className={list["runs"]}>
      {runs.toReversed().map((run) => (
        <li key={run.id}>
          <RunOf run={run} />
        </li>
      ))}
    </ol>
  );
}

function RunOf({ run }: { readonly run: Run }): JSX.Element {
  const { requestedAtMs, startedAtMs, endedAtMs, placements, message, waitsFor } = run;
  const waited = (startedAtMs ?? endedAtMs ?? requestedAtMs) - requestedAtMs;
  const lasted = (endedAtMs ?? requestedAtMs) - (startedAtMs ?? requestedAtMs);
  return (
    <section aria-label={`Run ${run.number}`}>
      <header className={list["run"]}>
        <h2>Run {run.number}</h2>
        <StateBadge state={runState(run)} />
        <span>{message.split("\n")[0]}</span>
      </header>
      <FactList
        facts={[
          ["Waits for", waitsFor],
          ["Limit", run.waitLimit ?? ""],
          ["Requested", time(requestedAtMs)],
          [
            "Started",
            startedAtMs === undefined ? "" : `${time(startedAtMs)}, after ${duration(waited)}`,
          ],
          ["Ended", endedAtMs === undefined ? "" : `${time(endedAtMs)}, after ${duration(lasted)}`],
          ["Placed on", placements.map(placeText).join(", ")],
        ]}
      />
    </section>
  );
}

function placeText({ agent, slots }: Run["placements"][number]): string {
  if (slots.length === 0) return `${agent} (no slot)`;
  return `${agent} (${slots.length === 1 ? "slot" : "slots"} ${slots.join(", ")})`;
}
