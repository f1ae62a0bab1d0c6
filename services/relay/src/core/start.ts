/**
 * Where the relay goes on. Its only memory is the stream itself: the position and id of the last event there.
 *
 *   the stream is empty                       → refill: it is new, or was wiped
 *   the log has that very event there         → resume behind it
 *   the log is shorter, or has another there  → rewound: the log was restored from a backup, and the stream tells of
 *                                               events that never happened in it; it is cleared and refilled
 */

export type Last = { readonly position: number; readonly id: string };

export type Start =
  | { readonly kind: "refill" }
  | { readonly kind: "resume"; readonly after: number }
  | { readonly kind: "rewound"; readonly detail: string };

/** `idInLog` is the id of the log's event at the last position; null when the log does not reach it. */
export function whereToStart(last: Last | null, idInLog: string | null): Start {
  if (last === null) return { kind: "refill" };
  if (idInLog === last.id) return { kind: "resume", after: last.position };
  const found = idInLog === null ? "the log ends before it" : `the log has ${idInLog} there`;
  return {
    kind: "rewound",
    detail: `the stream's last event is ${last.id} at position ${last.position}, but ${found}`,
  };
}

/**
 * The position behind which a refill begins: at most `eventsMax` events, none older than `oldestMs`. Times never go back
 * along positions, so the age is found by halving. `timeAt` gives an event's time by its position.
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
