/**
 * Records for each active webhook with a queue wait the runs that wait for longer, in the order in which they were
 * queued. The webhook's stream has the place of the last one, so that each run is recorded once: after a crash, and by
 * whichever replica. A run that passed the limit before the webhook was created is not recorded.
 */
import { newEventId, type EventLog } from "@trainyard/event-log";
import { type Clock, isRejection, isTaskId } from "@trainyard/kernel";
import { type Filter, readFilter } from "@trainyard/outbound";
import { EffectLoop, type Executor, foldOf, type Logger, serviceMeta } from "@trainyard/runtime";
import { lastOf, type QueuePlace } from "../../core/queue-place.ts";
import { feedsLimits } from "../../limits.ts";
import { subscriptions } from "../../streams.ts";
import { mayTrigger } from "../dispatch/selected.ts";
import type { QueuedRun } from "../view/queued-runs.ts";
import type { Subscription, SubscriptionsView } from "../view/subscriptions-view.ts";

export type QueueWaitDeps = {
  readonly log: EventLog;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly executor: Executor;
  readonly subscriptions: SubscriptionsView;
};

type Watching = {
  readonly subscription: Subscription;
  readonly filter: Filter;
  readonly waitMs: number;
};

/** The runs up to a place were looked at for a webhook. They are not read again while its settings stay. */
type Looked = { readonly key: string; readonly place: QueuePlace };

type Look = {
  readonly looked: Map<string, Looked>;
  readonly nowMs: number;
  readonly signal: AbortSignal;
};

export function queueWaitLoop(deps: QueueWaitDeps): EffectLoop {
  const { log, clock, subscriptions: known } = deps;
  const looked = new Map<string, Looked>();
  return new EffectLoop("queue-waits", deps, async (signal) => {
    const watching = (await known.list()).flatMap(watchingOf);
    if (watching.length === 0) return null;
    // The time is taken first: events that the view lacks afterwards are of runs that wait for less than any limit.
    const nowMs = clock.nowMs();
    await known.view.reach(await log.head());
    let nextMs = nowMs + feedsLimits.queueLookMs.most;
    for (const one of watching) {
      if (signal.aborted) return null;
      nextMs = Math.min(nextMs, await noteWaits(deps, one, { looked, nowMs, signal }));
    }
    return Math.max(feedsLimits.queueLookMs.least, nextMs - clock.nowMs());
  });
}

function watchingOf(subscription: Subscription): readonly Watching[] {
  const { stopped, disabled, webhook } = subscription;
  const waitMs = webhook?.queueWaitMs;
  const filter = readFilter(subscription.filter);
  if (waitMs === undefined || stopped !== null || disabled !== null || isRejection(filter)) {
    return [];
  }
  return [{ subscription, filter, waitMs }];
}

/** Records the long waits for a webhook. Returns the time at which the next run may have waited for too long. */
async function noteWaits(
  { executor, subscriptions: known }: QueueWaitDeps,
  { subscription, filter, waitMs }: Watching,
  { looked, nowMs, signal }: Look,
): Promise<number> {
  const { name, webhook, createdAtMs } = subscription;
  const key = JSON.stringify(subscription);
  const { state } = await executor.cache.load(foldOf(subscriptions), name);
  const before = looked.get(name);
  const start = { queuedAtMs: createdAtMs - waitMs, run: "" };
  const places = [start, state.lastWait, before?.key === key ? before.place : null];
  let place = lastOf(places) ?? start;
  while (!signal.aborted) {
    const page = await known.queuedBehind(place, feedsLimits.queuedPerPage);
    const late = page.filter(({ queuedAtMs }) => queuedAtMs < nowMs - waitMs);
    const facts = await known.facts([...new Set(late.map(({ subject }) => subject))]);
    const noted = late.filter(({ subject }) =>
      mayTrigger({ name, webhook }, filter, subject, facts.get(subject)),
    );
    if (noted.length > 0) await note(executor, name, noted, waitMs);
    place = late.at(-1) ?? place;
    looked.set(name, { key, place });
    const [next] = page.slice(late.length);
    if (next !== undefined) return next.queuedAtMs + waitMs;
    if (page.length < feedsLimits.queuedPerPage) break;
  }
  return nowMs + waitMs;
}

async function note(
  executor: Executor,
  webhook: string,
  runs: readonly QueuedRun[],
  waitMs: number,
): Promise<void> {
  const identity = { commitId: newEventId(), meta: serviceMeta("feeds") };
  await executor.execute(identity, async (work) => {
    for (const { run, subject, pool, queuedAtMs } of runs) {
      const experiment = isTaskId(subject) ? "" : subject;
      const data = { run, experiment, pool, queuedAtMs, waitMs };
      await work.decide(subscriptions, webhook, { type: "NoteQueueWait", ...data });
    }
  });
}
