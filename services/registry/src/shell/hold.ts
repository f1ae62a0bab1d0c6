/**
 * The hold on deletions after the log went back. Every part that notices the rewind reports the event that it had; the
 * registry compares it with the log, so a report cannot hold deletions without a reason.
 */
import type { Plain } from "@trainyard/contracts";
import type {
  Accepted,
  DeletionHold,
  GetDeletionHold,
  RecordRewind,
  ReleaseDeletions,
} from "@trainyard/contracts/commands";
import type { EventLog } from "@trainyard/event-log";
import { idOf, isRejection, type Rejection, reject, streamName } from "@trainyard/kernel";
import {
  accepted,
  type CommandContext,
  type DeletionHold as Hold,
  eventAt,
  type Executor,
  holdStream,
  recordedHold,
} from "@trainyard/runtime";
import { registryLimits } from "../limits.ts";
import { holds } from "../streams.ts";
import type { UnfinishedPage } from "./unfinished-list.ts";

export type HoldDeps = {
  readonly log: EventLog;
  readonly executor: Executor;
  readonly hold: Pick<Hold, "reason" | "lostEnd">;
  readonly unfinished: { page(after: string, limit: number): Promise<UnfinishedPage> };
};

const id = idOf(holdStream);

export async function recordRewind(
  { executor, log }: HoldDeps,
  { position, event, noticedBy }: Plain<RecordRewind>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  const { nameCharactersMax } = registryLimits;
  const isName = (text: string): boolean => text.length <= nameCharactersMax;
  if (!Number.isSafeInteger(position) || position < 1 || !isName(event) || !isName(noticedBy)) {
    return reject("invalid_request", "a rewind has the position and the id of a lost event");
  }
  const there = (await eventAt(log, position))?.id ?? null;
  if (there !== null && (event === "" || there === event)) {
    return reject("not_rewound", `the log has event ${there} at position ${position}`);
  }
  // A log with the release has everything before it: an event that it lacks there was lost before the release.
  const { releasedAt } = await recordedHold(log);
  if (position <= releasedAt) return { position: 0, stream: "" };
  const has = there === null ? "ends before that" : `has event ${there} there`;
  const detail = `the log went back: ${noticedBy} had event ${event || "(any)"} at position ${position}, and the log ${has}`;
  const rewind = { position, event, noticedBy, detail };
  return accepted(
    await executor.execute(identity, async (work) => {
      const decided = await work.decide(holds, id, { kind: "hold", rewind });
      return isRejection(decided) ? decided : undefined;
    }),
  );
}

export async function releaseDeletions(
  { executor, hold }: HoldDeps,
  { reason }: Plain<ReleaseDeletions>,
  { identity }: CommandContext,
): Promise<Plain<Accepted> | Rejection> {
  const { reasonCharactersMax: most } = registryLimits;
  if (reason.length > most) {
    return reject("invalid_request", `the reason may have at most ${most} characters`);
  }
  const lost = await hold.lostEnd();
  if (lost !== null) {
    const detail = `EVENTS still ends with event ${lost.id} at position ${lost.position}, which the log lost: start the relay, which fills the stream again`;
    return reject("relay_behind", detail);
  }
  executor.cache.forget(streamName(holds.category, id));
  const by = identity.meta.authid;
  return accepted(
    await executor.execute(identity, async (work) => {
      const decided = await work.decide(holds, id, { kind: "release", by, reason });
      return isRejection(decided) ? decided : undefined;
    }),
  );
}

export async function getDeletionHold(
  { log, unfinished }: HoldDeps,
  { after, limit }: Plain<GetDeletionHold>,
): Promise<Plain<DeletionHold>> {
  const { hold } = await recordedHold(log);
  const { unfinishedListedMax } = registryLimits;
  const page = await unfinished.page(
    after,
    Math.min(limit || unfinishedListedMax, unfinishedListedMax),
  );
  const { sinceMs, position, id: event, noticedBy, detail } = hold ?? nothing;
  return { held: hold !== null, sinceMs, position, event, noticedBy, detail, ...page };
}

const nothing = { sinceMs: 0, position: 0, id: "", noticedBy: "", detail: "" };
