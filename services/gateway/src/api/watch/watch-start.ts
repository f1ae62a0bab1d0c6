/** The places at which the streams of Watch begin. */
import type { Rights } from "@trainyard/access";
import type { RequestOf } from "@trainyard/contracts";
import { Problem } from "../../http/problem.ts";
import { lostPlace, type Place } from "../../live/core/series.ts";
import { type LogPlace, readCursor, sightOf, type WatchCursor } from "../../live/watch-cursor.ts";
import type { WatchHub } from "../../live/watch-hub.ts";
import { seriesKinds } from "./watch-series.ts";
import type { RequestedTopic } from "./watch-topics.ts";

type Start = {
  readonly from: WatchCursor;
  /** Whether the cursor is of another history of the log. */
  readonly isStale: boolean;
  /** Whether the caller saw other objects at the cursor. */
  readonly isOther: boolean;
};

/**
 * Returns where the stream begins: at the cursor, or at the position of a new topic if that is earlier, or at the
 * present.
 */
export async function startOf(
  hub: WatchHub,
  asked: readonly RequestedTopic[],
  given: WatchCursor | null,
  now: { readonly at: LogPlace; readonly ms: number; readonly rights: Rights },
): Promise<Start> {
  const isStale = given !== null && !(await isOfThisLog(hub, given, now.at));
  const known = new Set(given?.begun);
  const positions = asked.flatMap(({ topic, name, position }) => {
    const isNew = topic !== undefined && position !== "" && !known.has(name);
    return isNew ? [readPosition(position)] : [];
  });
  const earliest = Math.min(given?.log.position ?? now.at.position, ...positions);
  const begun = asked.flatMap(({ topic, name, position }) =>
    topic === undefined || position === "" ? [] : [name],
  );
  const hasRelative = asked.some(({ topic }) => topic?.isRelative === true);
  const from = {
    log: isStale ? now.at : await hub.cursorAt(earliest),
    nowMs: hasRelative ? now.ms : null,
    begun: [...new Set(begun)],
    places: placesOf(asked, given, isStale),
    sight: sightOf(now.rights),
  };
  return { from, isStale, isOther: given !== null && given.sight !== from.sight };
}

async function isOfThisLog(hub: WatchHub, { log }: WatchCursor, now: LogPlace): Promise<boolean> {
  const found = await hub.cursorAt(log.position);
  return found.commitId === log.commitId && log.position <= now.position;
}

function placesOf(asked: readonly RequestedTopic[], given: WatchCursor | null, isStale: boolean) {
  const places = new Map<string, Place>();
  for (const { series, name, position } of asked) {
    if (series === undefined) continue;
    const place = given?.places.get(name);
    if (place !== undefined) places.set(name, isStale ? lostPlace : place);
    else if (position !== "") places.set(name, { position, epoch: "" });
  }
  return places;
}

/** Returns the log positions of the lists among the topics. */
export const positionsOf = ({ topics }: RequestOf<"watch">): readonly number[] =>
  topics.flatMap(({ kind, position }) =>
    position === "" || seriesKinds.includes(kind) ? [] : [readPosition(position)],
  );

function readPosition(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  const detail = `${JSON.stringify(text.slice(0, 60))} is no log position`;
  throw new Problem(400, "invalid_request", detail);
}

export function cursorOf(text: string): WatchCursor | null {
  if (text === "") return null;
  const cursor = readCursor(text);
  if (cursor === null)
    throw new Problem(400, "invalid_cursor", "after is not a cursor of a stream");
  return cursor;
}
