import { Link } from "@tanstack/react-router";
import { isPositionMetric } from "@trainyard/contracts/position-metrics";
import type { JSX, ReactNode } from "react";
import { TrialFailure } from "../../components/failure/failure.tsx";
import { bytes, number, time } from "../../components/format.ts";
import { FactList } from "../../components/inspector.tsx";
import { LinkedLines } from "../../components/log-lines.tsx";
import { shownPairs } from "../../components/nested.ts";
import { PlainTable } from "../../components/plain-table.tsx";
import { own } from "../../data/own.ts";
import { Curves } from "./curves.tsx";
import { Decisions } from "./decisions.tsx";
import { TensorBoard } from "./tensorboard.tsx";
import styles from "./trial.module.css";
import type { ShownTrial, TabProps } from "./trial.ts";

export function Overview(props: TabProps): JSX.Element {
  const { trial } = props;
  return (
    <div className={styles["overview"]}>
      <div className={styles["main"]}>
        {trial.state === "ERROR" && <TrialFailure trial={trial} />}
        {trial.logPoliciesMatched.length > 0 && <Policies trial={trial} />}
        <Curves {...props} />
      </div>
      <aside className={styles["facts"]} aria-label="Facts about the trial">
        <Facts {...props} />
      </aside>
    </div>
  );
}

function Policies({ trial }: { readonly trial: ShownTrial }): JSX.Element {
  return (
    <section className={styles["section"]}>
      <h2>Log policies that matched</h2>
      <LinkedLines>
        {trial.logPoliciesMatched.map(({ policy, action, run, agent, rank, line, cursor }) => (
          <li key={`${policy} ${cursor}`}>
            <Link
              to="/trials/$trial"
              params={{ trial: trial.id }}
              search={{ tab: "logs", line: Number(cursor) }}
            >
              <time>run {run}</time>
              <span>
                <b>{policy}</b>
                {action === "" ? "" : `, ${action.replace("_", " ")}`},{" "}
                {rank === undefined ? agent : `rank ${rank} on ${agent}`}: {line.split("\n")[0]}
              </span>
            </Link>
          </li>
        ))}
      </LinkedLines>
    </section>
  );
}

/** Returns the number and size of the checkpoints that are only on the trial's host; empty for none. */
function notStored({ undelivered }: ShownTrial): string {
  if (undelivered === undefined) return "";
  const { checkpoints, bytes: size } = undelivered;
  return `${checkpoints} ${checkpoints === 1 ? "checkpoint" : "checkpoints"}, ${bytes(size)}`;
}

function Facts({ trial }: TabProps): JSX.Element {
  const { hyperparameters, bestValidation, latestValidation, sourceTrial, sourceStep } = trial;
  const reported = [...Object.keys(bestValidation), ...Object.keys(latestValidation)];
  const names = [...new Set(reported)].filter((name) => !isPositionMetric(name));
  return (
    <>
      <Part title="Hyperparameters">
        <FactList facts={shownPairs(hyperparameters)} />
      </Part>
      {names.length > 0 && (
        <Part title="Validation">
          <PlainTable
            caption="Validation"
            rows={names}
            keyOf={(name) => name}
            columns={[
              { title: "Metric", cell: (name) => name },
              { title: "Best", numeric: true, cell: (name) => number(own(bestValidation, name)) },
              {
                title: "Latest",
                numeric: true,
                cell: (name) => number(own(latestValidation, name)),
              },
            ]}
          />
        </Part>
      )}
      <Part title="Trial">
        <FactList
          facts={[
            ["Created", time(trial.createdAtMs)],
            ["Ended", time(trial.endedAtMs)],
            ["Seed", String(trial.seed)],
            ["Checkpoint", <code key="checkpoint">{trial.latestCheckpoint.slice(0, 8)}</code>],
            ["Not stored yet", notStored(trial)],
            [
              "Begins from",
              sourceTrial === "" ? (
                ""
              ) : (
                <Link key="source" to="/trials/$trial" params={{ trial: sourceTrial }}>
                  trial {sourceTrial}, step {number(sourceStep)}
                </Link>
              ),
            ],
          ]}
        />
      </Part>
      <Part title="TensorBoard">
        <TensorBoard trial={trial.id} />
      </Part>
      <Part title="What the search decided">
        <Decisions trial={trial} page="" />
      </Part>
    </>
  );
}

function Part({
  title,
  children,
}: {
  readonly title: string;
  readonly children: ReactNode;
}): JSX.Element {
  return (
    <section>
      <h2>{title}</h2>
      {children}
    </section>
  );
}
