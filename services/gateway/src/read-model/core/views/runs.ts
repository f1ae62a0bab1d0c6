/** The runs in the documents of trials and tasks, after each event about them. */
import type { EventData, Plain } from "@trainyard/contracts";
import type { Run } from "@trainyard/contracts/api";
import { Fault, RunEndWhy, WaitCode } from "@trainyard/contracts/events";
import type { DocumentSet } from "./documents.ts";

const endWhys: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(RunEndWhy).map(([name, number]) => [number, name.toLowerCase()]),
);

const faults: Readonly<Record<number, string>> = {
  [Fault.SCRIPT]: "script",
  [Fault.HOST]: "host",
  [Fault.PLATFORM]: "platform",
};

/** The names of the scheduler's wait reasons. A code of a later version has none. */
const waitCodes: Readonly<Record<WaitCode, string>> = {
  [WaitCode.UNSPECIFIED]: "",
  [WaitCode.NO_AGENTS]: "no_agents",
  [WaitCode.AGENTS_AWAY]: "agents_away",
  [WaitCode.NOT_ENOUGH_FREE_SLOTS]: "not_enough_free",
  [WaitCode.BEHIND_OTHERS]: "behind_others",
  [WaitCode.LOW_DISK]: "low_disk",
  [WaitCode.AGENTS_DISTRUSTED]: "distrusted",
  [WaitCode.RESERVED]: "reserved",
  [WaitCode.QUOTA]: "quota",
  [WaitCode.MAX_SLOTS]: "max_slots",
  [WaitCode.FAIR_SHARE]: "fair_share",
  [WaitCode.CONSTRAINTS]: "constraints",
  [WaitCode.PREEMPTING]: "preempting",
};

const noWait = { waitsFor: "", waitCode: "", waitLimit: "" };

/** `last` is the run before, whose failure may delay this one. */
export function requestedRun(
  id: string,
  { run, fromCheckpoint, delayMs }: EventData<"RunRequested">,
  timeMs: number,
  last: Plain<Run> | undefined,
): Plain<Run> {
  return {
    id,
    number: run,
    state: "QUEUED",
    whyEnded: "",
    message: "",
    placements: [],
    requestedAtMs: timeMs,
    waitsFor: "",
    fromCheckpoint,
    ...delayOf(last, timeMs, delayMs),
  };
}

export const startedRun = (timeMs: number): Partial<Plain<Run>> => ({
  state: "RUNNING",
  startedAtMs: timeMs,
  ...noWait,
});

/** Returns the state of a run whose stop was withdrawn. */
export function stateWithoutStop({ startedAtMs, placements }: Plain<Run>): string {
  const granted = placements.length === 0 ? "QUEUED" : "STARTING";
  return startedAtMs === undefined ? granted : "RUNNING";
}

export const endedRun = (data: EventData<"RunEnded">, timeMs: number): Partial<Plain<Run>> => ({
  state: "ENDED",
  whyEnded: endWhys[data.why] ?? "",
  message: data.message,
  endedAtMs: timeMs,
  ...noWait,
  ...(data.fault === undefined ? {} : { fault: faults[data.fault] ?? "" }),
  ...(data.triesInRow === undefined ? {} : { triesInRow: data.triesInRow }),
});

export function grantedRun({ placements }: EventData<"AllocationGranted">): Partial<Plain<Run>> {
  return {
    state: "STARTING",
    ...noWait,
    placements: placements.map(({ agent, slots, nodeRank, address }) => ({
      agent,
      slots,
      nodeRank,
      ...(address === "" ? {} : { address }),
    })),
  };
}

export const waitingRun = ({
  code,
  detail,
  limit = "",
}: EventData<"WaitExplained">): Partial<Plain<Run>> => ({
  waitsFor: detail,
  waitCode: waitCodes[code] ?? "",
  waitLimit: limit,
});

/** The runs in the document of a trial or task. */
const runsKept = 16;

/** Returns the latest runs, with a new one. An earlier one, which has ended, becomes a document of its own. */
export function withNewRun(
  documents: DocumentSet,
  owner: string,
  runs: readonly Plain<Run>[],
  run: Plain<Run>,
): readonly Plain<Run>[] {
  const all = [...runs, run];
  for (const doc of all.slice(0, -runsKept)) {
    documents.put({ kind: "run", id: doc.id, parent: owner, ordinal: doc.number, doc });
  }
  return all.slice(-runsKept);
}

export const withChangedRun = (
  runs: readonly Plain<Run>[],
  number: number,
  change: (run: Plain<Run>) => Partial<Plain<Run>>,
): readonly Plain<Run>[] =>
  runs.map((run) => (run.number === number ? { ...run, ...change(run) } : run));

/** Returns why a run waits after a failed one; nothing without a delay. */
function delayOf(
  last: Plain<Run> | undefined,
  timeMs: number,
  delayMs: number,
): Partial<Plain<Run>> {
  if (delayMs === 0) return {};
  const { triesInRow = 1, fault = "" } = last ?? {};
  const failures = triesInRow === 1 ? "a failure" : `${triesInRow} failures in a row`;
  const cause = fault === "" ? "" : ` (cause of the latest: ${fault})`;
  const until = new Date(timeMs + delayMs).toISOString();
  return { waitsFor: `a delay until ${until} after ${failures}${cause}`, waitCode: "delayed" };
}
