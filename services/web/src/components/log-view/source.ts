/** A source of lines: the log of a trial, of all trials of an experiment, or of a task. */
import type { Client } from "@trainyard/client";
import type { ReplyOf } from "@trainyard/contracts";

export type LogLine = ReplyOf<"listTrialLogs">["items"][number];
export type RemovedLines = NonNullable<ReplyOf<"listTrialLogs">["removed"]>;

export type LogTask =
  | { readonly trial: string }
  | { readonly experiment: string }
  | { readonly task: string };

/** Conditions on lines, named like the parameters of the calls. */
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

/** Lines after a cursor (the first ones if it is empty), or the last ones before a cursor. */
export type LogRange = { readonly after: string } | { readonly before: string };

export type LogPage = {
  readonly lines: readonly LogLine[];
  /** The cursor for the next page in the same direction; null if there are no more. An empty page may have one. */
  readonly next: string | null;
  readonly removed: RemovedLines | undefined;
};

export type LastPage = LogPage & {
  /** The cursor up to which the log was read: later lines are new. Empty for a log without lines. */
  readonly end: string;
};

export interface LogSource {
  /** Reads the last lines of the log. */
  last(signal: AbortSignal): Promise<LastPage>;
  /** Reads a page of at most 1,000 lines, oldest first. */
  read(range: LogRange, signal: AbortSignal): Promise<LogPage>;
  /**
   * Yields each line after the cursor once, in order, until the log has ended. Throws when the platform is unavailable
   * for long.
   */
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
  const list = (asked: LogConditions & Paging, signal: AbortSignal) => {
    if ("trial" in task) return client.call("listTrialLogs", { ...task, ...asked }, { signal });
    return "task" in task
      ? client.call("listTaskLogs", { ...task, ...asked }, { signal })
      : client.call("listExperimentLogs", { ...task, ...asked }, { signal });
  };
  return {
    async last(signal) {
      // The log's end is read first, without the conditions, so that no matching line is missed between the two
      // answers.
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
      const stream = streamOf(client, task, { ...conditions, after }, signal);
      for await (const { message } of stream) yield message;
    },
  };
}

function streamOf(
  client: Client,
  task: LogTask,
  asked: LogConditions & { readonly after: string },
  signal: AbortSignal,
) {
  if ("trial" in task) return client.stream("followTrialLogs", { ...task, ...asked }, { signal });
  return "task" in task
    ? client.stream("followTaskLogs", { ...task, ...asked }, { signal })
    : client.stream("followExperimentLogs", { ...task, ...asked }, { signal });
}

/** Compares cursors, which are decimal numbers of any length. */
function laterOf(one: string, other: string): string {
  if (one.length !== other.length) return one.length > other.length ? one : other;
  return one > other ? one : other;
}
