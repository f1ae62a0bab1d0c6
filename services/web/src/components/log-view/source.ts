/** Where lines come from: the log of a trial, or of all trials of an experiment. */
import type { Client } from "@trainyard/client";
import type { ReplyOf } from "@trainyard/contracts";

export type LogLine = ReplyOf<"listTrialLogs">["items"][number];
export type RemovedLines = NonNullable<ReplyOf<"listTrialLogs">["removed"]>;

export type LogTask = { readonly trial: string } | { readonly experiment: string };

/** Conditions on lines, by the names of the calls. */
export type LogConditions = {
  readonly run?: number;
  readonly nodeRank?: number;
  readonly rank?: number;
  readonly source?: string;
  readonly level?: string;
  readonly fromMs?: number;
  readonly untilMs?: number;
  readonly contains?: string;
  readonly matches?: string;
  readonly search?: string;
};

/** Lines after a cursor (the first ones if it is empty), or the last ones before it. */
export type LogRange = { readonly after: string } | { readonly before: string };

export type LogPage = {
  readonly lines: readonly LogLine[];
  /** Where to read on in the same direction; null if there is no more. A page without lines may have one. */
  readonly next: string | null;
  readonly removed: RemovedLines | undefined;
};

export type LastPage = LogPage & {
  /** All lines up to this cursor were looked at: what is after it is new. Empty for a log without a line. */
  readonly end: string;
};

export interface LogSource {
  /** The last lines of all. */
  last(signal: AbortSignal): Promise<LastPage>;
  /** A page of at most 1,000 lines, oldest first. */
  read(range: LogRange, signal: AbortSignal): Promise<LogPage>;
  /** Each line after the cursor once, in order, until the log has ended. Throws when the platform is away for long. */
  follow(after: string, signal: AbortSignal): AsyncIterable<LogLine>;
}

type Paging = {
  readonly tail?: number;
  readonly pageSize?: number;
  readonly after?: string;
  readonly before?: string;
};

const linesPerPage = 500;

export function logSource(client: Client, task: LogTask, conditions: LogConditions): LogSource {
  const list = (asked: LogConditions & Paging, signal: AbortSignal) =>
    "trial" in task
      ? client.call("listTrialLogs", { ...task, ...asked }, { signal })
      : client.call("listExperimentLogs", { ...task, ...asked }, { signal });
  return {
    async last(signal) {
      // Where the log ends is asked first, without the conditions: no line passes them between the two answers unseen.
      const isBare = Object.keys(conditions).length === 0;
      const end = isBare ? undefined : (await list({ tail: 1 }, signal)).items.at(-1);
      const page = await list({ ...conditions, tail: linesPerPage }, signal);
      const last = page.items.at(-1);
      return {
        lines: page.items,
        next: page.before || null,
        removed: page.removed,
        end: laterOf(end?.cursor ?? "", last?.cursor ?? ""),
      };
    },
    async read(range, signal) {
      if ("before" in range) {
        const page = await list(
          { ...conditions, tail: linesPerPage, before: range.before },
          signal,
        );
        return { lines: page.items, next: page.before || null, removed: page.removed };
      }
      const page = await list(
        { ...conditions, pageSize: linesPerPage, after: range.after },
        signal,
      );
      return { lines: page.items, next: page.nextPageToken || null, removed: page.removed };
    },
    async *follow(after, signal) {
      const stream =
        "trial" in task
          ? client.stream("followTrialLogs", { ...task, ...conditions, after }, { signal })
          : client.stream("followExperimentLogs", { ...task, ...conditions, after }, { signal });
      for await (const { message } of stream) yield message;
    },
  };
}

/** Cursors are numbers in decimal digits, of any length. */
function laterOf(one: string, other: string): string {
  if (one.length !== other.length) return one.length > other.length ? one : other;
  return one > other ? one : other;
}
