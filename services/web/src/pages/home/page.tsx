import type { UseQueryResult } from "@tanstack/react-query";
import type { ReplyOf } from "@trainyard/contracts";
import { type JSX, useRef } from "react";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { count, number } from "../../components/format.ts";
import { useInUse } from "../../components/held/use-held.ts";
import { Page } from "../../components/page/page.tsx";
import { ProgressBar, TimeLeft } from "../../components/progress.tsx";
import { Reason } from "../../components/reason.tsx";
import { Loading, SkeletonLine, SkeletonRows } from "../../components/skeleton.tsx";
import { WarningSign } from "../../components/warning.tsx";
import { useCall } from "../../data/calls.ts";
import { Begin, useIsUnused } from "./begin.tsx";
import { poolsOf } from "./cluster.ts";
import styles from "./page.module.css";
import { Part, type Row, rowsMax, Waiting } from "./part.tsx";

const running = "state = ACTIVE";
const failed = "state = ERROR";
/** The failed ones are shown with their reasons. */
const ended = "ended_at : * and not state = ERROR";

/** All that Home shows. Rows keep their places while the pointer or the focus is among them. */
export function HomePage(): JSX.Element {
  const active = useRows(running, "created_at desc", 20);
  const errors = useRows(failed, "ended_at desc", rowsMax);
  const recent = useRows(ended, "ended_at desc", rowsMax);
  const agents = useAgents();
  // Read again when an active experiment changes.
  const watch = { kind: "experiments", filter: running };
  const jobs = useCall("listJobs", {}, { watch, follow: true });
  const place = useRef<HTMLDivElement>(null);
  const used = useInUse(place);
  const isUnused = useIsUnused();
  // The parts are shown together: a part that came later would move those below it.
  const isPending =
    isUnused === undefined || [active, errors, recent, agents, jobs].some((read) => read.isPending);
  return (
    <Page title="Home">
      <div ref={place} className={styles["page"]}>
        {isPending ? (
          <LoadingParts />
        ) : (
          <>
            <Cluster agents={agents} />
            {isUnused && <Begin />}
            <Part title="Running" read={active} filter={running} empty="Nothing runs." used={used}>
              {(row) => <Progress row={row} />}
            </Part>
            <Waiting jobs={jobs.data?.items} named={active.data?.items ?? []} used={used} />
            <Part
              title="Failed"
              read={errors}
              filter={failed}
              empty="Nothing has failed."
              used={used}
            >
              {({ id, reason }) => (
                <span title={reason}>
                  <Reason text={reason.split("\n", 1)[0] ?? ""} experiment={id} />
                </span>
              )}
            </Part>
            <Part
              title="Ended last"
              read={recent}
              filter={ended}
              empty="Nothing has ended without a failure."
              used={used}
            >
              {(row) => <Best row={row} />}
            </Part>
          </>
        )}
      </div>
    </Page>
  );
}

/** The parts while they are read. */
function LoadingParts(): JSX.Element {
  return (
    <Loading label="Home" className={styles["parts"]}>
      {["Cluster", "Running", "Failed", "Ended last"].map((title) => (
        <section key={title} className={styles["part"]}>
          <div className={styles["head"]}>
            <h2>{title}</h2>
          </div>
          {title === "Cluster" ? (
            <SkeletonLine height={20} width={320} />
          ) : (
            <SkeletonRows rows={3} height={32} />
          )}
        </section>
      ))}
    </Loading>
  );
}

const useAgents = () =>
  useCall("listAgents", { pageSize: 1_000 }, { watch: { kind: "agents" }, follow: true });

function useRows(
  filter: string,
  orderBy: string,
  pageSize: number,
): UseQueryResult<ReplyOf<"listExperiments">> {
  const watch = { kind: "experiments", filter };
  const request = { filter, orderBy, pageSize, count: true };
  return useCall("listExperiments", request, { watch, follow: true });
}

function Progress({ row }: { readonly row: Row }): JSX.Element {
  const errors = row.trialsFailed === 0 ? "" : `, ${count(row.trialsFailed)} failed`;
  return (
    <span>
      <ProgressBar of={row} /> {count(row.trialsCompleted)} of {count(row.trials)} trials
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

function Cluster({ agents }: { readonly agents: ReturnType<typeof useAgents> }): JSX.Element {
  const pools = poolsOf(agents.data?.items ?? []);
  return (
    <section className={styles["part"]} aria-label="Cluster">
      <div className={styles["head"]}>
        <h2>Cluster</h2>
      </div>
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
