import type { LogRoles } from "../owners.ts";
import type { AppendRequest, AppendResult, EventLog, StreamWrite } from "../port.ts";
import { newEventId } from "../ids.ts";

/** The owners of stream categories in the suite's log. */
export const contractRoles: LogRoles = {
  categories: { experiment: "ty_experiments", trial: "ty_experiments", search: "ty_searcher" },
  consumers: { experiments: "ty_experiments", searcher: "ty_searcher" },
  readers: ["ty_reader"],
};
export type ContractRole = "ty_experiments" | "ty_searcher" | "ty_reader";

export type LogUnderTest = AsyncDisposable & {
  /** Returns another process's client; the test or the end of the log disposes of it. */
  as(role: ContractRole): EventLog;
  /** Changes of stored data that the port does not allow. */
  readonly tamper: {
    editBody(position: number, body: string): Promise<void>;
    removeEvent(position: number): Promise<void>;
    removeCommit(position: number): Promise<void>;
    /** Swaps the content of two positions. */
    exchange(first: number, second: number): Promise<void>;
    editMeta(position: number, authid: string): Promise<void>;
    /** Removes the commits from a position to the end, with their events. */
    cut(position: number): Promise<void>;
    /** Shifts the expiry of a lease. */
    shiftLease(lease: string, ms: number): Promise<void>;
    /** Shifts the time of the newest commit without changing its hash. */
    shiftHeadTime(ms: number): Promise<void>;
  };
};

export type ContractHarness = {
  /** Creates an empty log with `contractRoles`. */
  create(): Promise<LogUnderTest>;
};

export const noMeta = {
  source: "/trainyard/experiments",
  workspace: "",
  correlationid: "",
  causationid: "",
  authid: "",
  traceparent: "",
};

export const newCommitId = (): string => newEventId();

export const eventOf = (body = "{}", type = "dev.trainyard.experiment.ExperimentPaused.v1") => ({
  id: newEventId(),
  type,
  body,
});

export function writeOf(stream: string, expectedVersion: number, count = 1): StreamWrite {
  const events = Array.from({ length: count }, (_, index) =>
    eventOf(`{"n":${expectedVersion + index + 1}}`),
  );
  return { stream, expectedVersion, events };
}

export function requestOf(
  writes: readonly StreamWrite[],
  more: Partial<AppendRequest> = {},
): AppendRequest {
  return { commitId: newCommitId(), writes, guards: [], meta: noMeta, ...more };
}

type Committed = Extract<AppendResult, { kind: "committed" }>;

/** Appends a commit, expects it to be committed, and returns the result. */
export async function committed(
  log: EventLog,
  writes: readonly StreamWrite[],
  more: Partial<AppendRequest> = {},
): Promise<Committed> {
  const result = await log.append(requestOf(writes, more));
  if (result.kind !== "committed") throw new Error(`the append failed: ${JSON.stringify(result)}`);
  return result;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Reads all events, in pages of 100. */
export async function everything(log: EventLog) {
  const all = [];
  for (;;) {
    const page = await log.readAll(all.at(-1)?.position ?? 0, 100);
    if (page.length === 0) return all;
    all.push(...page);
  }
}
