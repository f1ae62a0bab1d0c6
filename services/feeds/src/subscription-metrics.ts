/** How far subscriptions are behind, in numbers without their names. All replicas read the same tables. */
import type { EventLog } from "@trainyard/event-log";
import type { Clock } from "@trainyard/kernel";
import { type Measured, measuredGauge, type Registry } from "@trainyard/runtime";
import type { Pool } from "pg";

type Standing = {
  readonly delivery: string;
  readonly state: string;
  readonly count: number;
  /** The place of the one that is furthest behind. */
  readonly position: number;
};

export type StandingDeps = {
  readonly pool: Pick<Pool, "query">;
  readonly log: Pick<EventLog, "head" | "readAll">;
  readonly clock: Pick<Clock, "nowMs">;
  /** The names of the operator's sinks: one that was removed has still its place. */
  readonly sinks: readonly string[];
};

/**
 * A place counts only for the subscription that stored it; the sinks of the operator have the life 0. That of a webhook
 * is before its earliest event that waits for an answer.
 */
const standings = `
select s.delivery, count(*)::float8 as count,
  case when disabled is not null then 'disabled' when stopped is not null then 'stopped' else 'active' end as state,
  min(least(coalesce(p.position, s.after), w.position - 1))::float8 as position
from feeds.subscriptions s left join feeds.progress p on p.name = s.name and p.life = s.life
left join (
  select webhook, min(position) as position from feeds.deliveries where state = 'WAITING' group by 1
) w on w.webhook = s.name
group by 1, 3
union all
select name, 1, 'active', position from feeds.progress where life = 0 and name = any($1)`;

export function subscriptionGauges(registry: Registry, deps: StandingDeps): void {
  const gauge = (
    name: string,
    help: string,
    labelNames: readonly string[],
    measure: (rows: readonly Standing[]) => Promise<Measured> | Measured,
  ): void =>
    measuredGauge(registry, { name: `trainyard_${name}`, help, labelNames }, async () =>
      measure((await deps.pool.query<Standing>(standings, [deps.sinks])).rows),
    );
  gauge(
    "subscriptions",
    "Subscriptions, and sinks of the operator",
    ["delivery", "state"],
    (rows) => rows.map(({ delivery, state, count }) => [{ delivery, state }, count]),
  );
  const events = "Events by which the active subscription is behind that is furthest behind";
  gauge("subscription_lag_events", events, ["delivery"], async (rows) => {
    const head = await deps.log.head();
    return active(rows).map(({ delivery, position }) => [
      { delivery },
      Math.max(0, head - position),
    ]);
  });
  const age =
    "Age of the oldest event that an active subscription has not taken, also of one that is sent again";
  gauge("subscription_lag_seconds", age, ["delivery"], (rows) =>
    Promise.all(
      active(rows).map(
        async ({ delivery, position }) => [{ delivery }, await ageOfNext(deps, position)] as const,
      ),
    ),
  );
}

const active = (rows: readonly Standing[]) => rows.filter(({ state }) => state === "active");

async function ageOfNext(
  { log, clock }: Pick<StandingDeps, "log" | "clock">,
  position: number,
): Promise<number> {
  const [next] = await log.readAll(position, 1);
  return next === undefined ? 0 : Math.max(0, clock.nowMs() - next.timeMs) / 1_000;
}
