import type { UseQueryResult } from "@tanstack/react-query";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import type { Experiment, Job } from "@trainyard/contracts/api";
import type { JSX, ReactNode } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { age, count, number, time } from "../../components/format.ts";
import { Page } from "../../components/page/page.tsx";
import { PathLink } from "../../components/path-link.tsx";
import { experimentPath } from "../../components/paths.ts";
import { ProgressBar, TimeLeft } from "../../components/progress.tsx";
import { Reason } from "../../components/reason.tsx";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { WarningSign } from "../../components/warning.tsx";
import { useCall } from "../../data/calls.ts";
import { useNow } from "../../data/clock.ts";
import { poolsOf } from "./cluster.ts";
import styles from "./page.module.css";

type Row = Plain<Experiment>;

const running = "state = ACTIVE";
const failed = "state = ERROR";
const ended = "ended_at : *";
/** The rows in each part; a link leads to the rest. */
const rowsMax = 8;

export function HomePage(): JSX.Element {
  const active = useRows(running, "created_at desc", 20);
  const errors = useRows(failed, "ended_at desc", rowsMax);
  const recent = useRows(ended, "ended_at desc", rowsMax);
  const isEmpty =
    active.data?.items.length === 0 && recent.data?.items.length === 0 && errors.isSuccess;
  return (
    <Page title="Home">
      <div className={styles["page"]}>
        <Cluster />
        {isEmpty && (
          <EmptyState
            title="Nothing has run here yet."
            command="yard experiment create examples/iris/search.yaml examples/iris"
          >
            This command submits the search of the example iris; it takes about a minute.
          </EmptyState>
        )}
        <Part title="Running" read={active} filter={running} empty="Nothing runs.">
          {(row) => <Progress row={row} />}
        </Part>
        <Waiting named={active.data?.items ?? []} />
        <Part title="Failed" read={errors} filter={failed} empty="Nothing has failed.">
          {({ id, reason }) => (
            <span title={reason}>
              <Reason text={reason.split("\n", 1)[0] ?? ""} experiment={id} />
            </span>
          )}
        </Part>
        <Part title="Ended last" read={recent} filter={ended} empty="Nothing has ended.">
          {(row) => <Best row={row} />}
        </Part>
      </div>
    </Page>
  );
}

function useRows(
  filter: string,
  orderBy: string,
  pageSize: number,
): UseQueryResult<ReplyOf<"listExperiments">> {
  const watch = { kind: "experiments", filter };
  const request = { filter, orderBy, pageSize, count: true };
  return useCall("listExperiments", request, { watch, follow: true });
}

function Part(props: {
  readonly title: string;
  readonly read: UseQueryResult<ReplyOf<"listExperiments">>;
  readonly filter: string;
  readonly empty: string;
  readonly children: (row: Row) => ReactNode;
}): JSX.Element {
  const { title, read, filter, empty, children } = props;
  const nowMs = useNow();
  const { data, error } = read;
  const total = Math.max(data?.total ?? 0, data?.items.length ?? 0);
  const all = `/experiments?filter=${encodeURIComponent(filter)}`;
  return (
    <section className={styles["part"]} aria-label={title}>
      <h2>
        {title} {data !== undefined && <span>{count(total)}</span>}
      </h2>
      {error !== null && <ErrorNote error={error} onRetry={() => void read.refetch()} />}
      {data?.items.length === 0 && <p className={styles["none"]}>{empty}</p>}
      {data !== undefined && data.items.length > 0 && (
        <table className={styles["rows"]}>
          <tbody>
            {data.items.map((row) => (
              <tr key={row.id}>
                <td className="mono">{row.id}</td>
                <td>
                  <PathLink to={experimentPath(row.id)}>{row.name || row.id}</PathLink>
                </td>
                <td>
                  <StateBadge state={experimentState(row)} />
                </td>
                <td>{children(row)}</td>
                <td>
                  <When row={row} nowMs={nowMs} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {data !== undefined && total > data.items.length && (
        <PathLink to={all}>All {count(total)}</PathLink>
      )}
    </section>
  );
}

function When({ row, nowMs }: { readonly row: Row; readonly nowMs: number }): JSX.Element {
  const atMs = row.endedAtMs ?? row.createdAtMs;
  return <span title={time(atMs)}>{age(atMs, nowMs)}</span>;
}

function Progress({ row }: { readonly row: Row }): JSX.Element {
  const errors = row.trialsFailed === 0 ? "" : `, ${count(row.trialsFailed)} failed`;
  return (
    <span>
      <ProgressBar of={row} /> {row.trialsCompleted} of {row.trials} trials
      {errors}
      {row.bestValue !== undefined && `, best ${row.metric} ${number(row.bestValue)}`}{" "}
      <TimeLeft of={row} />
    </span>
  );
}

function Best({ row }: { readonly row: Row }): JSX.Element {
  const { bestValue, metric, warning } = row;
  return (
    <span>
      {bestValue !== undefined && `best ${metric} ${number(bestValue)}`}
      <WarningSign text={warning} />
    </span>
  );
}

/** Experiments with runs in the queue, read again when an active experiment changes. */
function Waiting({ named }: { readonly named: readonly Row[] }): JSX.Element | null {
  const watch = { kind: "experiments", filter: running };
  const jobs = useCall("listJobs", {}, { watch, follow: true });
  const waiting = jobs.data?.items.filter(({ runsWaiting }) => runsWaiting > 0) ?? [];
  if (waiting.length === 0) return null;
  const nameOf = (id: string): string => named.find((row) => row.id === id)?.name ?? "";
  return (
    <section className={styles["part"]} aria-label="Waiting">
      <h2>
        Waiting <span>{count(waiting.length)}</span>
      </h2>
      <table className={styles["rows"]} data-waiting>
        <tbody>
          {waiting.slice(0, rowsMax).map((job) => (
            <tr key={job.job}>
              <td className="mono">{job.job}</td>
              <td>
                <PathLink to={experimentPath(job.job)}>{nameOf(job.job) || job.job}</PathLink>
              </td>
              <td title={waitText(job)}>{waitText(job)}</td>
              <td>{job.pool}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function waitText({ runsWaiting, slotsWanted, jobsAhead }: Plain<Job>): string {
  const runs = runsWaiting === 1 ? "1 run waits" : `${count(runsWaiting)} runs wait`;
  const slots = slotsWanted === 1 ? "1 slot" : `${count(slotsWanted)} slots`;
  if (jobsAhead === 0) return `${runs} for ${slots}, first in the queue`;
  return `${runs} for ${slots}, behind ${jobsAhead === 1 ? "1 experiment" : `${count(jobsAhead)} experiments`}`;
}

function Cluster(): JSX.Element {
  const agents = useCall(
    "listAgents",
    { pageSize: 1_000 },
    { watch: { kind: "agents" }, follow: true },
  );
  const pools = poolsOf(agents.data?.items ?? []);
  return (
    <section className={styles["part"]} aria-label="Cluster">
      <h2>Cluster</h2>
      {agents.error !== null && <ErrorNote error={agents.error} />}
      {agents.data?.items.length === 0 && (
        <EmptyState
          title="No agent has connected: nothing can run."
          command="yard cluster up --agents 1"
        />
      )}
      <ul className={styles["pools"]}>
        {pools.map(({ pool, slots, used, agents: members, troubled }) => (
          <li key={pool}>
            <b>{pool}</b>
            <meter value={used} max={Math.max(1, slots)} aria-label={`Slots of ${pool} in use`} />
            <span>
              {count(used)} of {count(slots)} slots in use, {count(members)}{" "}
              {members === 1 ? "agent" : "agents"}
            </span>
            {troubled.map(({ name, why }) => (
              <span key={name} className={styles["trouble"]}>
                {name}: {why}
              </span>
            ))}
          </li>
        ))}
      </ul>
    </section>
  );
}
