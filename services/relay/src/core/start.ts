/**
 * Decides where the relay starts. Its only state is the stream itself: the position and id of the stream's last event.
 *
 *   the stream is empty                       → refill: it is new, or was wiped
 *   the log has the same event there          → resume after it
 *   the log is shorter, or has another there  → rewound: the log was restored from a backup or failed over with loss,
 *                                               and the stream has events that the log does not have
 *   the stream belongs to another log         → rewound too, with that reason
 *
 * A refilled stream is a new epoch, which each of its messages names. By the epoch an external follower detects that
 * the positions it knows are of another history.
 */

/** The last message of the stream. `log` is the id of the first event of its log; empty if the message has none. */
export type Last = { readonly position: number; readonly id: string; readonly log: string };

export type Start =
  | { readonly kind: "refill" }
  | { readonly kind: "resume"; readonly after: number }
  /** `isThisLog`: the log lost the stream's last event; otherwise the stream may be another log's. */
  | { readonly kind: "rewound"; readonly isThisLog: boolean; readonly detail: string };

/** The ids of the log's first event, and of its event at the stream's last position; null for none. */
export type InLog = { readonly first: string | null; readonly atLast: string | null };

export function whereToStart(last: Last | null, { first, atLast: idInLog }: InLog): Start {
  if (last === null) return { kind: "refill" };
  if (first !== null && last.log !== "" && last.log !== first) {
    return {
      kind: "rewound",
      isThisLog: false,
      detail: `the stream belongs to the log that began with event ${last.log}, and this log began with ${first}: if both are in use, give each cluster a NATS account of its own`,
    };
  }
  if (idInLog === last.id) return { kind: "resume", after: last.position };
  const found = idInLog === null ? "the log ends before it" : `the log has ${idInLog} there`;
  return {
    kind: "rewound",
    isThisLog: first !== null && first === last.log,
    detail: `the stream's last event is ${last.id} at position ${last.position}, but ${found}: the log went back, and the stream is filled from it again as a new epoch`,
  };
}

/**
 * Returns the position after which a refill starts, so that it has at most `eventsMax` events, none older than
 * `oldestMs`. Times never decrease along positions, so the age limit is found by binary search. `timeAt` returns the
 * time of the event at a position.
 */
export async function refillAfter(
  head: number,
  eventsMax: number,
  oldestMs: number,
  timeAt: (position: number) => Promise<number>,
): Promise<number> {
  let tooOld = Math.max(0, head - eventsMax);
  let youngEnough = head + 1;
  while (youngEnough - tooOld > 1) {
    const middle = tooOld + Math.floor((youngEnough - tooOld) / 2);
    if ((await timeAt(middle)) < oldestMs) tooOld = middle;
    else youngEnough = middle;
  }
  return tooOld;
}
