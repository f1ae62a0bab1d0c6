import type { JSX } from "react";
import { count, number, time } from "../../components/format.ts";
import { FactList, Inspector } from "../../components/inspector.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { experimentPath, trialPath } from "../../components/paths.ts";
import { ProgressBar } from "../../components/progress.tsx";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { elapsedOf, leftOf, ranOf } from "../../components/times.ts";
import { Warning } from "../../components/warning.tsx";
import { useNow } from "../../data/clock.ts";
import type { Row } from "./columns.tsx";
import styles from "./page.module.css";

type Props = { readonly row: Row; readonly onClose: () => void };

export function ExperimentInspector({ row, onClose }: Props): JSX.Element {
  const { bestTrial, bestValue, metric } = row;
  const nowMs = useNow();
  const left = leftOf(row, nowMs);
  const failed = row.trialsFailed === 0 ? "" : `, ${count(row.trialsFailed)} failed`;
  return (
    <Inspector title={`${row.id} ${row.name}`} onClose={onClose}>
      <StateBadge state={experimentState(row)} />
      <Warning text={row.warning} />
      {row.reason !== "" && <p className={styles["reason"]}>{row.reason}</p>}
      {row.description !== "" && <p>{row.description}</p>}
      <FactList
        facts={[
          ["Progress", <ProgressBar key="progress" of={row} />],
          ["Left", left === "" ? "" : `about ${left}`],
          ["Elapsed", elapsedOf(row, nowMs)],
          ["Ran", ranOf(row, nowMs)],
          ["Trials", `${count(row.trialsCompleted)} of ${count(row.trials)} completed${failed}`],
          ["Search", row.searcher],
          ["Metric", `${metric}, ${row.smallerIsBetter ? "smaller" : "larger"} is better`],
          ["Best value", number(bestValue)],
          [
            "Best trial",
            bestTrial !== undefined && <PathLink to={trialPath(bestTrial)}>{bestTrial}</PathLink>,
          ],
          ["Labels", row.labels.join(", ")],
          ["Place", `${row.workspace} / ${row.project}`],
          ["Owner", row.owner],
          ["Created", time(row.createdAtMs)],
          ["Ended", time(row.endedAtMs)],
          [
            "Forked from",
            row.parent !== "" && <PathLink to={experimentPath(row.parent)}>{row.parent}</PathLink>,
          ],
        ]}
      />
      <PathLink to={experimentPath(row.id)}>Open experiment {row.id}</PathLink>
    </Inspector>
  );
}
