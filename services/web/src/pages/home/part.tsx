import type { UseQueryResult } from "@tanstack/react-query";
import type { Plain, ReplyOf } from "@trainyard/contracts";
import type { Experiment, Job } from "@trainyard/contracts/api";
import type { JSX, ReactNode } from "react";
import { ErrorNote } from "../../components/error-note.tsx";
import { age, count, time } from "../../components/format.ts";
import { HeldNote } from "../../components/held/held-note.tsx";
import { useHeld } from "../../components/held/use-held.ts";
import { listTotal, totalText } from "../../components/list-total.ts";
import { PathLink } from "../../components/path-link.tsx";
import { experimentPath } from "../../components/paths.ts";
import { experimentState } from "../../components/state.ts";
import { StateBadge } from "../../components/state-badge.tsx";
import { useNow } from "../../data/clock.ts";
import styles from "./page.module.css";

export type Row = Plain<Experiment>;

/** The rows in each part; a link leads to the rest. */
export const rowsMax = 8;

const noRows: readonly Row[] = [];
const noJobs: readonly Plain<Job>[] = [];

type PartProps = {
  readonly title: string;
  readonly read: UseQueryResult<ReplyOf<"listExperiments">>;
  readonly filter: string;
  readonly empty: string;
  /** The pointer or the focus is in the page: rows keep their places. */
  readonly used: boolean;
  readonly children: (row: Row) => ReactNode;
};

/** A part of Home with its experiments. */
export function Part(props: PartProps): JSX.Element {
  const { title, read, filter, empty, used, children } = props;
  const nowMs = useNow();
  const { data, error } = read;
  const held = useHeld(data?.items ?? noRows, ({ id }) => id, used, "", false);
  const { rows } = held;
  const total = listTotal(data, data?.items.length ?? 0, (data?.nextPageToken ?? "") !== "");
  const all = `/experiments?filter=${encodeURIComponent(filter)}`;
  return (
    <section className={styles["part"]} aria-label={title}>
      <div className={styles["head"]}>
        <h2>
          {title} {data !== undefined && <span>{totalText(total)}</span>}
        </h2>
        {data !== undefined && total.total > data.items.length && (
          <PathLink to={all}>All {totalText(total)}</PathLink>
        )}
        <HeldNote held={held} onShow={held.show} />
      </div>
      {error !== null && <ErrorNote error={error} onRetry={() => void read.refetch()} />}
      {data !== undefined && rows.length === 0 && <p className={styles["none"]}>{empty}</p>}
      {rows.length > 0 && (
        <table className={styles["rows"]}>
          <tbody>
            {rows.map((row) => (
              <tr key={row.id} data-gone={held.gone.has(row.id)}>
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
    </section>
  );
}

function When({ row, nowMs }: { readonly row: Row; readonly nowMs: number }): JSX.Element {
  const atMs = row.endedAtMs ?? row.createdAtMs;
  return <span title={time(atMs)}>{age(atMs, nowMs)}</span>;
}

type WaitingProps = {
  readonly jobs: readonly Plain<Job>[] | undefined;
  readonly named: readonly Row[];
  readonly used: boolean;
};

/** Experiments with runs in the queue. */
export function Waiting({ jobs = noJobs, named, used }: WaitingProps): JSX.Element | null {
  const waiting = jobs.filter(({ runsWaiting }) => runsWaiting > 0);
  const held = useHeld(waiting, ({ job }) => job, used, "", false);
  if (held.rows.length === 0) return null;
  const nameOf = (id: string): string => named.find((row) => row.id === id)?.name ?? "";
  return (
    <section className={styles["part"]} aria-label="Waiting">
      <div className={styles["head"]}>
        <h2>
          Waiting <span>{count(waiting.length)}</span>
        </h2>
        <HeldNote held={held} onShow={held.show} />
      </div>
      <table className={styles["rows"]} data-waiting>
        <tbody>
          {held.rows.slice(0, rowsMax).map((job) => (
            <tr key={job.job} data-gone={held.gone.has(job.job)}>
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
