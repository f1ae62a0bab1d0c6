/**
 * A fixed sequence of inputs for a searcher, and its undisturbed decisions on them. Each step is appended when all
 * effects of the previous one are on the log.
 */
import { type AnyEvent, encodeEvent } from "@trainyard/contracts";
import type { SearchOperation } from "@trainyard/contracts/events";
import type { Plain } from "@trainyard/contracts";
import { deriveCommitId, type EventLog } from "@trainyard/event-log";
import { serviceMeta } from "@trainyard/runtime";

export type Told = { readonly stream: string; readonly events: readonly AnyEvent[] };

/** The inputs from other services, or from the client of a custom search. */
export type Input =
  | { readonly kind: "told"; readonly told: Told }
  | { readonly kind: "posted"; readonly operations: readonly Plain<SearchOperation>[] };

export type Step = {
  readonly input: Input;
  /** The version of the search's stream when all effects are on the log. */
  readonly version: number;
};

export type Sequence = {
  readonly method: string;
  readonly experiment: string;
  readonly steps: readonly Step[];
  /** The search's own events, as text. */
  readonly decided: readonly string[];
};

const nobody = serviceMeta("kill9");

/** Appends the events with fixed ids, since an observation records the id of its report. */
export async function tell(log: EventLog, { stream, events }: Told): Promise<void> {
  const expectedVersion = (await log.read(stream, 0, 10_000)).length;
  const idOf = (n: number): string => deriveCommitId("kill9", stream, String(expectedVersion + n));
  const result = await log.append({
    commitId: deriveCommitId("kill9", "commit", stream, String(expectedVersion)),
    writes: [
      {
        stream,
        expectedVersion,
        events: events.map((event, n) => ({ id: idOf(n), ...encodeEvent(event) })),
      },
    ],
    guards: [],
    meta: nobody,
  });
  if (result.kind !== "committed") throw new Error(`${stream}: ${JSON.stringify(result)}`);
}

/** The events of a search on the log, without the values that differ at every append. */
export async function decidedOn(log: EventLog, experiment: string): Promise<readonly string[]> {
  const stored = await log.read(`search-${experiment}`, 0, 100_000);
  return stored.map(({ type, body }) => `${type} ${canonical(JSON.parse(body))}`);
}

/** PostgreSQL returns keys in its own order. The time of an event comes from its input, and differs each time. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, part: unknown) =>
    key === "atMs"
      ? undefined
      : part !== null && typeof part === "object" && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
        : part,
  );
}

/** The first difference as a sentence; null for none. */
export function differenceOf(
  { decided, method }: Sequence,
  found: readonly string[],
): string | null {
  const length = Math.max(decided.length, found.length);
  for (let at = 0; at < length; at += 1) {
    if (decided[at] === found[at]) continue;
    return `${method}, event ${at + 1}: ${found[at] ?? "nothing"}, undisturbed ${decided[at] ?? "nothing"}`;
  }
  return null;
}
