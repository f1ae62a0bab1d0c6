/** The consequences of its nodes' states for an allocation. */
import type { Plain } from "@trainyard/contracts";
import {
  AllocationEndCause,
  EndReason,
  type EndRecord,
  type Exit,
  type LaunchFailure,
} from "@trainyard/contracts/events";
import type { AllocationCommand } from "../allocation/state.ts";
import type { Allocation } from "../cluster/state.ts";
import { limits } from "../../limits.ts";
import { hasFailed, isOver, pidOf, type Rank, userOf, wasTerminated } from "./ranks.ts";

export function judgeAllocation(
  allocation: Allocation,
  ranks: readonly Rank[],
): readonly AllocationCommand[] {
  if (allocation.grant === null) return [];
  const commands: AllocationCommand[] = [];
  const allUp = ranks.every((rank) => pidOf(rank) > 0);
  if (!allocation.started && allUp) commands.push({ kind: "start", starts: ranks.map(startOf) });
  if (!allocation.stopAcknowledged && ranks.some(wasTerminated)) {
    commands.push({ kind: "acknowledge_stop" });
  }
  if (ranks.every(isOver)) commands.push(endOf(allocation, ranks));
  return commands;
}

function startOf(rank: Rank) {
  const { agent, nodeRank } = rank.placement;
  const userId = userOf(rank);
  return { agent, nodeRank, pid: pidOf(rank), ...(userId === undefined ? {} : { userId }) };
}

function endOf(allocation: Allocation, ranks: readonly Rank[]): AllocationCommand {
  const cause = causeOf(allocation, ranks);
  const exits = ranks.flatMap((rank) => exitOf(rank));
  const message = messageOf(cause, ranks);
  const sealed = ranks.flatMap(sealedOf);
  const launchFailure = launchFailureOf(ranks);
  const lastValidation = lastValidationOf(ranks);
  const [unsaved] = ranks.flatMap(({ state }) =>
    state.kind === "ended" && state.report.unsaved !== undefined ? [state.report.unsaved] : [],
  );
  return {
    kind: "end",
    cause,
    exits,
    endRecord: lastWord(ranks),
    message,
    sealed,
    ...(launchFailure === null ? {} : { launchFailure }),
    ...(lastValidation === undefined ? {} : { lastValidation }),
    ...(unsaved === undefined ? {} : { unsaved }),
  };
}

/** Returns the last validation that the chief's node names; undefined if its agent did not see the end. */
function lastValidationOf(ranks: readonly Rank[]): string | undefined {
  const chief = ranks.find(({ placement }) => placement.nodeRank === 0)?.state;
  return chief?.kind === "ended" ? chief.report.lastValidation : undefined;
}

function causeOf(allocation: Allocation, ranks: readonly Rank[]): AllocationEndCause {
  if (ranks.some(({ state }) => state.kind === "lost")) return AllocationEndCause.AGENT_LOST;
  const silent = ranks.some(isSilentLaunch);
  if (silent && allocation.stop?.kill === true) return AllocationEndCause.KILLED;
  if (silent || ranks.some(wasNotLaunched)) return AllocationEndCause.LAUNCH_FAILED;
  const absent = ranks.some(({ state }) => state.kind === "absent");
  if (allocation.stop?.kill === true && (absent || ranks.some(wasKilled))) {
    return AllocationEndCause.KILLED;
  }
  if (absent || ranks.some(isUntold)) return AllocationEndCause.AGENT_LOST;
  return AllocationEndCause.EXITED;
}

function wasNotLaunched({ state }: Rank): boolean {
  return state.kind === "ended" && state.report.launchFailed;
}

function isLacking({ state }: Rank): boolean {
  return state.kind === "ended" && state.report.lacking === true;
}

function lacksForGood({ state }: Rank): boolean {
  return state.kind === "ended" && state.report.lasting === true;
}

function isSilentLaunch({ state }: Rank): boolean {
  return state.kind === "silent";
}

/** Null if no launch failed. */
function launchFailureOf(ranks: readonly Rank[]): Plain<LaunchFailure> | null {
  const silent = ranks.filter(isSilentLaunch);
  const failed = ranks.filter((rank) => isSilentLaunch(rank) || wasNotLaunched(rank));
  if (failed.length === 0) return null;
  const agentsOf = (some: readonly Rank[]): string[] =>
    some.map(({ placement }) => placement.agent);
  return {
    agents: agentsOf(failed),
    silent: agentsOf(silent),
    platformAway: failed.every(({ state }) => state.kind === "silent" && state.waits),
    ...(failed.every(isLacking) ? { lacking: true } : {}),
    ...(failed.every(lacksForGood) ? { lasting: true } : {}),
  };
}

function wasKilled({ state }: Rank): boolean {
  return state.kind === "ended" && state.report.killed;
}

/** The node ended unobserved: the host restarted, or its supervisor was killed. */
function isUntold(rank: Rank): boolean {
  const { state } = rank;
  if (state.kind !== "ended" || state.report.killed || wasTerminated(rank)) return false;
  const { exit } = state.report;
  return exit === undefined || (exit.code === undefined && exit.signal === "");
}

function exitOf({ placement, state }: Rank): readonly Plain<Exit>[] {
  const { nodeRank, agent } = placement;
  if (state.kind !== "ended") return [];
  const { exit } = state.report;
  if (exit === undefined) return [];
  return [{ ...exit, nodeRank, agent }];
}

/**
 * Returns the checkpoints of a rank. If the rank is lost, its agent names them when it returns: an earlier report may
 * never be delivered.
 */
function sealedOf({ state }: Rank) {
  return state.kind === "ended" ? (state.report.sealed?.checkpoints ?? []) : [];
}

const harshness: readonly EndReason[] = [
  EndReason.FINISHED,
  EndReason.ACKNOWLEDGED_STOP,
  EndReason.ERROR,
  EndReason.INVALID_HYPERPARAMETERS,
  EndReason.IDLE,
];

/**
 * The most severe of the nodes' end records, as for one node. Of several errors one with a cause of its own precedes
 * one that only reports a lost neighbour; if that neighbour has no end record, its exit is used.
 */
function lastWord(ranks: readonly Rank[]): Plain<EndRecord> | null {
  const words = ranks.flatMap(({ state }) =>
    state.kind === "ended" && state.report.endRecord !== undefined ? [state.report.endRecord] : [],
  );
  const weight = ({ reason, follows }: Plain<EndRecord>): number =>
    2 * harshness.indexOf(reason) + (follows === true ? 0 : 1);
  const first = words[0];
  if (first === undefined) return null;
  const word = words.reduce((best, next) => (weight(next) > weight(best) ? next : best), first);
  if (word.follows !== true) return word;
  const silent = ranks.find((rank) => hasFailed(rank) && !wasKilled(rank) && isSilent(rank));
  const cause = silent === undefined ? "" : whatEnded(silent);
  return cause === "" ? word : { ...word, message: `${cause}; then ${word.message}` };
}

function isSilent({ state }: Rank): boolean {
  return state.kind === "ended" && state.report.endRecord === undefined;
}

function whatEnded({ placement, state }: Rank): string {
  const said = state.kind === "ended" ? (state.report.exit?.message ?? "") : "";
  return said === "" ? "" : `node ${placement.nodeRank} on ${placement.agent}: ${said}`;
}

function messageOf(cause: AllocationEndCause, ranks: readonly Rank[]): string {
  if (cause === AllocationEndCause.KILLED) return "";
  const failed = ranks.filter(hasFailed);
  // A killed run was killed because of another one's failure.
  const culprit = failed.find((rank) => !wasKilled(rank)) ?? failed[0];
  if (culprit === undefined) return "";
  const { agent } = culprit.placement;
  if (culprit.state.kind === "lost") return `the agent ${agent} was lost`;
  if (culprit.state.kind === "silent") {
    const forMin = Math.round(limits.launchSilenceMs / 60_000);
    const why = culprit.state.waits ? ": a service of the platform did not answer there" : "";
    return `the launch on ${agent} showed no progress for ${forMin} minutes${why}`;
  }
  if (culprit.state.kind === "absent") return `the agent ${agent} no longer has the run`;
  if (ranks.length > 1) return whatEnded(culprit);
  return culprit.state.kind === "ended" ? (culprit.state.report.exit?.message ?? "") : "";
}
