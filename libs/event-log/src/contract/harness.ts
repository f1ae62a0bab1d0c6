import type { LogRoles } from "../owners.ts";
import type { AppendRequest, AppendResult, EventLog, StreamWrite } from "../port.ts";
import { newEventId } from "../ids.ts";

/** The owners of categories in the contract's log. */
export const contractRoles: LogRoles = {
  categories: { experiment: "ty_experiments", trial: "ty_experiments", search: "ty_searcher" },
  consumers: { experiments: "ty_experiments", searcher: "ty_searcher" },
  readers: ["ty_reader"],
};
export type ContractRole = "ty_experiments" | "ty_searcher" | "ty_reader";

export type LogUnderTest = AsyncDisposable & {
  /** Another process's client; the test disposes of it, or the log does at the end. */
  as(role: ContractRole): EventLog;
  /** Forbidden acts, done past the port. */
  readonly tamper: {
    editBody(position: number, body: string): Promise<void>;
    removeEvent(position: number): Promise<void>;
    removeCommit(position: number): Promise<void>;
    /** Exchanges what two positions hold. */
    exchange(first: number, second: number): Promise<void>;
    editMeta(position: number, authid: string): Promise<void>;
    /** Removes the commits from a position on, with their events. */
    cut(position: number): Promise<void>;
    /** Moves a lease's end. */
    shiftLease(lease: string, ms: number): Promise<void>;
    /** Moves the time of the newest commit, whatever its hash says then. */
    shiftHeadTime(ms: number): Promise<void>;
  };
};

export type ContractHarness = {
  /** A fresh, empty log with `contractRoles`. */
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

/** The result of an append that is expected to go through. */
export async function committed(
  log: EventLog,
  writes: readonly StreamWrite[],
  more: Partial<AppendRequest> = {},
): Promise<Committed> {
  const result = await log.append(requestOf(writes, more));
  if (result.kind !== "committed") throw new Error(`not committed: ${JSON.stringify(result)}`);
  return result;
}

export async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** Every event, in pages of 100. */
export async function everything(log: EventLog) {
  const all = [];
  for (;;) {
    const page = await log.readAll(all.at(-1)?.position ?? 0, 100);
    if (page.length === 0) return all;
    all.push(...page);
  }
}
