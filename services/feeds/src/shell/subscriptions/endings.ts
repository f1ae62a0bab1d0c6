/** Stops subscriptions whose token has expired, and deletes those that nobody acknowledges. */
import { newEventId } from "@trainyard/event-log";
import { type Clock, isRejection } from "@trainyard/kernel";
import {
  EffectLoop,
  type EffectSpan,
  type Executor,
  foldOf,
  type Logger,
  serviceMeta,
} from "@trainyard/runtime";
import type { SubscriptionCommand } from "../../core/subscription/commands.ts";
import { feedsLimits } from "../../limits.ts";
import { subscriptions } from "../../streams.ts";
import { placeOf, type Rooms } from "../dispatch/dispatcher.ts";
import type { Progress, ProgressRow } from "../dispatch/progress.ts";
import type { Subscription, SubscriptionsView } from "../view/subscriptions-view.ts";
import type { SubscriptionDeps } from "./commands.ts";

export type EndingDeps = Pick<SubscriptionDeps, "log" | "turns"> & {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly executor: Executor;
  readonly subscriptions: SubscriptionsView;
  readonly progress: Progress;
  readonly rooms: Rooms;
};

/** Removes what is left of a deleted subscription: its place, its secrets and what waits to be sent. */
export async function forget(
  { rooms, progress }: Pick<EndingDeps, "rooms" | "progress">,
  name: string,
): Promise<void> {
  for (const room of Object.values(rooms)) await room.remove(name);
  await progress.forget(name);
}

export function endingLoop(deps: EndingDeps): EffectLoop {
  // Nobody could acknowledge anything while the service was away.
  const beganMs = deps.clock.nowMs();
  return new EffectLoop("endings", deps, async (_, span) => {
    const known = await deps.subscriptions.list();
    const rows = await deps.progress.rows(known.map(({ name }) => name));
    for (const one of known) {
      await deps.turns.run(one.name, () =>
        endIfDue(deps, one, rows.get(one.name), { beganMs, span }),
      );
    }
    await forgetStrays(deps);
    return feedsLimits.expiryMs;
  });
}

async function endIfDue(
  deps: EndingDeps,
  one: Subscription,
  row: ProgressRow | undefined,
  { beganMs, span }: { readonly beganMs: number; readonly span: EffectSpan },
): Promise<void> {
  const command = await endOf(deps, one, row, beganMs);
  if (command === null) return;
  const meta = serviceMeta("feeds", { traceparent: span.traceparent });
  const identity = { commitId: newEventId(), meta };
  await deps.executor.execute(identity, async (work) => {
    const decided = await work.decide(subscriptions, one.name, command);
    return isRejection(decided) ? decided : undefined;
  });
  if (command.type === "Delete") await forget(deps, one.name);
}

/** Forgets subscriptions whose deletion was recorded by a process that then ended. */
async function forgetStrays(deps: EndingDeps): Promise<void> {
  for (const name of await deps.progress.strays()) {
    await deps.turns.run(name, async () => {
      const { state } = await deps.executor.cache.load(foldOf(subscriptions), name);
      if (!state.isThere) await forget(deps, name);
    });
  }
}

/** Returns what ends the subscription now; null if nothing does. */
export async function endOf(
  deps: Pick<EndingDeps, "clock" | "log"> & { readonly progress: Pick<Progress, "rows"> },
  one: Subscription,
  row: ProgressRow | undefined,
  beganMs: number,
): Promise<SubscriptionCommand | null> {
  const { life, reader, expiresAfterMs, createdAtMs, stopped } = one;
  const { expiresAtMs, tokenId } = reader;
  const nowMs = deps.clock.nowMs();
  if (stopped === null && expiresAtMs > 0 && expiresAtMs <= nowMs) {
    return { type: "Stop", tokenId, reason: `its token ${tokenId} has expired` };
  }
  if (expiresAfterMs === null) return null;
  const acknowledgedAtMs = row?.life === life ? (row.acknowledgedAtMs ?? 0) : 0;
  const lastMs = Math.max(acknowledgedAtMs, createdAtMs, beganMs);
  if (lastMs + expiresAfterMs > nowMs) return null;
  // Without a new event nobody could acknowledge anything: a quiet log ends no subscription.
  const { position } = await placeOf(deps, one);
  const [waiting] = await deps.log.readAll(position, 1);
  if (waiting === undefined || waiting.timeMs + expiresAfterMs > nowMs) return null;
  const reason = `nothing was acknowledged for ${Math.round(expiresAfterMs / 1_000)} s`;
  return { type: "Delete", reason, by: "" };
}
