/** Derives why and by whose fault a run ended from the end of its allocation. */
import type { EventData, Plain } from "@trainyard/contracts";
import {
  AllocationEndCause,
  EndReason,
  type Exit,
  Fault,
  RunEndWhy,
  StopWhy,
} from "@trainyard/contracts/events";
import { limits } from "../../limits.ts";
import type { AllocationState } from "../foreign/allocation.ts";
import type { EndRun } from "../trial/commands.ts";

type Ended = EventData<"AllocationEnded">;

export function runEnd(
  run: number,
  ended: Ended,
  allocation: AllocationState,
  atMs: number,
): EndRun {
  const why = whyEnded(ended, allocation);
  const { exits, launchFailure } = ended;
  const message = messageOf(ended);
  const fault = faultOf(why, ended);
  const isStop = why === RunEndWhy.ACKNOWLEDGED_STOP || why === RunEndWhy.KILLED;
  const timeLimited =
    isStop && allocation.stopWhy === StopWhy.TIME_LIMIT ? { timeLimited: true } : {};
  return {
    ...{ kind: "end_run", run, why, exits, message, atMs },
    agents: agentsOf(ended, allocation),
    ...(fault === undefined ? {} : { fault }),
    ...timeLimited,
    ...(launchFailure === undefined ? {} : { launchFailure }),
  };
}

/** Returns the scheduler's judgement, or else the fault that the end itself suggests; undefined if nothing failed. */
function faultOf(why: RunEndWhy, { fault, launchFailure }: Ended): Fault | undefined {
  if (why !== RunEndWhy.FAILED && why !== RunEndWhy.LOST) return undefined;
  if (fault !== undefined && fault !== Fault.UNSPECIFIED) return fault;
  if (why === RunEndWhy.FAILED) return Fault.SCRIPT;
  return launchFailure?.platformAway === true ? Fault.PLATFORM : Fault.HOST;
}

/** Returns the agents on which the run was not launched, or else those that have seen no clean exit. */
function agentsOf({ launchFailure, exits }: Ended, { agents }: AllocationState): readonly string[] {
  if (launchFailure !== undefined) return launchFailure.agents;
  const clean = new Set(exits.filter(isClean).map(({ agent }) => agent));
  return agents.filter((agent) => !clean.has(agent)).slice(0, limits.avoidedAgentsMax);
}

function isClean({ code, signal }: Plain<Exit>): boolean {
  return code === 0 && signal === "";
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
    case EndReason.IDLE:
      return RunEndWhy.IDLE;
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
  const clean = ended.exits.every(isClean);
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
