/** The report to the scheduler about a run, from the records in its folder. */
import type { Plain } from "@trainyard/contracts";
import {
  type AllocationReport,
  AllocationReportState,
  type Launch,
} from "@trainyard/contracts/agent";
import {
  EndReason,
  type EndRecord,
  type Exit,
  type SealedCheckpoints,
} from "@trainyard/contracts/events";
import { storableText } from "@trainyard/kernel";
import {
  type ExitRecord,
  exitMessageCharsMax,
  type KillRecord,
  type StopRecord,
} from "./records.ts";

export type RunView = {
  readonly launch: Plain<Launch>;
  readonly state: AllocationReportState;
  readonly pid: number;
  readonly stop: StopRecord | null;
  readonly kill: KillRecord | null;
  readonly exit: ExitRecord | null;
  /** The content of end.json, or the reason why it could not be read. */
  readonly lastWord: { readonly endRecord: Plain<EndRecord> | null; readonly problem: string };
  /** A sentence about the run's slots that the agent does not offer any more, with the reason; empty for none. */
  readonly notice: string;
  /** The user of the run's processes; null or absent for the agent's own user. */
  readonly owner?: { readonly uid: number } | null;
  readonly sealed?: Plain<SealedCheckpoints> | undefined;
  /** The key of the last validation that the run recorded; empty for none, null or absent if it is unknown. */
  readonly lastValidation?: string | null;
  /** The sentence why the folder of a task is not saved; empty or absent if it is, or if there is none. */
  readonly unsaved?: string;
};

/** The records of a run's end, which do not change afterwards. */
export type EndRecords = Pick<
  RunView,
  "stop" | "kill" | "exit" | "lastWord" | "notice" | "lastValidation" | "unsaved"
>;

const noWord = { endRecord: null, problem: "" };
export const noEnd: EndRecords = {
  stop: null,
  kill: null,
  exit: null,
  lastWord: noWord,
  notice: "",
};

export function reportOf(agent: string, view: RunView): Plain<AllocationReport> {
  const { launch, state, pid, exit, lastWord, notice, sealed, owner = null } = view;
  const common = {
    allocation: launch.allocation,
    requestId: launch.requestId,
    state,
    nodeRank: launch.nodeRank,
    slots: launch.slots,
    pid,
    launchFailed: false,
    killed: false,
    ...(wasAsked(view) ? { terminated: true } : {}),
    ...(sealed === undefined ? {} : { sealed }),
    ...(owner === null ? {} : { userId: owner.uid }),
  };
  if (state !== AllocationReportState.ENDED || exit === null) return common;
  const told = exitOf(agent, launch.nodeRank, exit, wasShutDown(view, exit));
  // A run whose device has disappeared usually fails because of that, with an error that does not name the device.
  const cause = exit.code === 0 ? "" : notice;
  return {
    ...common,
    exit: { ...told, message: messageOf([told.message, lastWord.problem, cause]) },
    ...(lastWord.endRecord === null ? {} : { endRecord: lastWord.endRecord }),
    launchFailed: exit.kind === "not_launched",
    ...(exit.lacking === true ? { lacking: true } : {}),
    ...(exit.lasting === true ? { lasting: true } : {}),
    killed: wasKilled(exit, view.kill),
    ...(view.unsaved ? { unsaved: view.unsaved } : {}),
    // After a lost end, as of a host that restarted, the spool on the disk may have more or less than the name says.
    ...(typeof view.lastValidation === "string" && exit.kind !== "lost"
      ? { lastValidation: view.lastValidation }
      : {}),
  };
}

function messageOf(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("; ");
}

/** Returns the exit of a launch that has no folder, since it could not be written; no process of it was started. */
export function refusalOf(
  agent: string,
  { allocation, requestId, nodeRank, slots }: Plain<Launch>,
  why: string,
): Plain<AllocationReport> {
  const said = `the agent could not write the launch down: ${why}`;
  const message = storableText(said, exitMessageCharsMax);
  const state = AllocationReportState.ENDED;
  const exit = { nodeRank, agent, signal: "", message };
  const failed = { pid: 0, launchFailed: true, killed: false, exit };
  return { allocation, requestId, state, nodeRank, slots, ...failed };
}

/** True if the run got SIGTERM because it has to stop. A process that ended before the signal was not asked. */
function wasAsked({ kill, exit }: RunView): boolean {
  return kill?.why === "asked" && (exit === null || exit.atMs >= kill.atMs);
}

/** True if the run ended because the scheduler ended it. A process that ended before the signal was not killed. */
function wasKilled(exit: ExitRecord, kill: KillRecord | null): boolean {
  return kill?.why === "wanted" && (exit.kind !== "exited" || exit.signal === "SIGKILL");
}

/**
 * True if the run ended only because of the agent's shutdown. An end record still counts if the script wrote it: it
 * agreed to stop, its hyperparameters are invalid, or it had finished before the signal. Any other behaviour after the
 * signal (a handler that exits with 0, a peer that fails because its peers are gone) is caused by the signal.
 */
function wasShutDown({ stop, kill, lastWord }: RunView, exit: ExitRecord): boolean {
  if (kill === null ? stop === null : kill.why !== "shutdown") return false;
  const said = lastWord.endRecord?.reason;
  if (said === EndReason.ACKNOWLEDGED_STOP || said === EndReason.INVALID_HYPERPARAMETERS)
    return false;
  const wasSignalled = kill !== null && exit.atMs >= kill.atMs;
  return exit.code !== 0 || wasSignalled;
}

/**
 * An exit without code and signal has an unknown end: the run's supervisor or host was lost, or the host was shut down.
 * The scheduler treats it as a lost run, which continues elsewhere and counts as no failure.
 */
function exitOf(agent: string, nodeRank: number, exit: ExitRecord, shutDown: boolean): Plain<Exit> {
  if (shutDown) {
    return { nodeRank, agent, signal: "", message: "the agent was shut down with its runs" };
  }
  return {
    nodeRank,
    agent,
    ...(exit.code === null ? {} : { code: exit.code }),
    signal: exit.signal ?? "",
    // The record of a supervisor in Python may have characters that the log does not store.
    message: storableText(exit.message, exitMessageCharsMax),
  };
}
