/** Derives why a run ended from the end of its allocation. */
import type { EventData, Plain } from "@trainyard/contracts";
import { AllocationEndCause, EndReason, type Exit, RunEndWhy } from "@trainyard/contracts/events";
import type { AllocationState } from "../foreign/allocation.ts";
import type { EndRun } from "../trial/commands.ts";

type Ended = EventData<"AllocationEnded">;

export function runEnd(run: number, ended: Ended, allocation: AllocationState): EndRun {
  const why = whyEnded(ended, allocation);
  const { exits } = ended;
  const message = messageOf(ended);
  const isStop = why === RunEndWhy.ACKNOWLEDGED_STOP || why === RunEndWhy.KILLED;
  const timeLimited = isStop && allocation.timeLimited ? { timeLimited: true } : {};
  return { kind: "end_run", run, why, exits, message, ...timeLimited, ...launchFailureOf(ended) };
}

/** Returns the place of a launch failure; an end that the scheduler has shortened to fit the log names none. */
function launchFailureOf({ cause, launchFailure }: Ended): Pick<EndRun, "launchFailure"> {
  if (cause !== AllocationEndCause.LAUNCH_FAILED) return {};
  return { launchFailure: launchFailure ?? { agents: [], silent: [], platformAway: false } };
}

function whyEnded(ended: Ended, allocation: AllocationState): RunEndWhy {
  switch (ended.cause) {
    case AllocationEndCause.WITHDRAWN:
      return RunEndWhy.WITHDRAWN;
    case AllocationEndCause.KILLED:
      return wordThatCounts(ended, allocation) ?? RunEndWhy.KILLED;
    case AllocationEndCause.EXITED:
      return exited(ended, allocation);
    default:
      // The agent was lost or could not launch the run, or the cause is unknown to this version. None is the script's
      // fault.
      return RunEndWhy.LOST;
  }
}

/**
 * Returns the end record that the script wrote before its process ended. If the process was killed after that, it hung
 * during its exit, and its work was done.
 */
function lastWord({ endRecord }: Ended): RunEndWhy | null {
  switch (endRecord?.reason) {
    case EndReason.FINISHED:
      return RunEndWhy.FINISHED;
    case EndReason.ACKNOWLEDGED_STOP:
      return RunEndWhy.ACKNOWLEDGED_STOP;
    case EndReason.INVALID_HYPERPARAMETERS:
      return RunEndWhy.INVALID_HYPERPARAMETERS;
    case EndReason.ERROR:
      return RunEndWhy.FAILED;
    default:
      return null;
  }
}

/** After SIGTERM, an error is a consequence of the signal. */
function wordThatCounts(ended: Ended, { stopAcknowledged }: AllocationState): RunEndWhy | null {
  const word = lastWord(ended);
  return stopAcknowledged && word === RunEndWhy.FAILED ? null : word;
}

function exited(ended: Ended, allocation: AllocationState): RunEndWhy {
  const word = wordThatCounts(ended, allocation);
  const clean = ended.exits.every(({ code, signal }) => code === 0 && signal === "");
  // A script that finished training and then exits with an error has failed: its code after the training counts.
  if (word !== null && (clean || word !== RunEndWhy.FINISHED)) return word;
  // Exit code 0 does not tell whether a script without the SDK had finished, so the run is repeated.
  if (allocation.stopAcknowledged) return RunEndWhy.ACKNOWLEDGED_STOP;
  if (ended.exits.length === 0) return RunEndWhy.LOST;
  return clean ? RunEndWhy.FINISHED : RunEndWhy.FAILED;
}

function messageOf({ endRecord, message, exits }: Ended): string {
  const said = endRecord?.message ?? "";
  if (said !== "") return said;
  if (message !== "") return message;
  return exits.map(exitMessage).find((text) => text !== "") ?? "";
}

function exitMessage({ nodeRank, code, signal, message }: Plain<Exit>): string {
  if (message !== "") return message;
  if (signal !== "") return `node ${nodeRank} was ended by ${signal}`;
  if (code !== undefined && code !== 0) return `node ${nodeRank} exited with code ${code}`;
  return "";
}
