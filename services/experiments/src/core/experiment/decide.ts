import { StopKind } from "@trainyard/contracts/events";
import {
  assertNever,
  type Decider,
  isRejection,
  type Rejection,
  reject,
  staleRevision,
} from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import type { ExperimentCommand } from "./commands.ts";
import { evolveExperiment, initialExperiment } from "./evolve.ts";
import { decideDeletion, isOfDeletion, refusedAsDeleted } from "./delete.ts";
import { continueExperiment, restartTrial } from "./continue.ts";
import type { ExperimentEvent, ExperimentState } from "./state.ts";
import { changedWords, sameWords } from "./words.ts";

type Decision = readonly ExperimentEvent[] | Rejection;

const alreadySo: Decision = [];
const notFound = reject("experiment_not_found", "the experiment does not exist");
const ended = reject("experiment_ended", "the experiment has ended");
const notEnded = reject("experiment_not_ended", "the experiment has not ended: cancel it first");
const stopping = reject("experiment_stopping", "the experiment is being stopped for good");

export function decideExperiment(state: ExperimentState, command: ExperimentCommand): Decision {
  if (command.kind === "create") return create(state, command);
  if (state.status === "none") return notFound;
  if (isOfDeletion(command)) return decideDeletion(state, command);
  // A deleted experiment does not change, except that its end may be recorded late.
  if (state.deletion !== null && command.kind !== "end") return refusedAsDeleted(state.deletion);
  switch (command.kind) {
    case "activate":
      if (state.status === "ended") return ended;
      if (state.stop !== null) return stopping;
      return state.status === "active" ? alreadySo : [{ type: "ExperimentActivated", data: {} }];
    case "pause":
      if (state.status === "ended") return ended;
      if (state.stop !== null) return stopping;
      return state.status === "paused" ? alreadySo : [{ type: "ExperimentPaused", data: {} }];
    case "continue":
      return continueExperiment(state, command);
    case "restart_trial":
      return restartTrial(state, command);
    case "archive":
      return archive(state, command);
    case "unarchive":
      return state.archived ? [{ type: "ExperimentUnarchived", data: {} }] : alreadySo;
    case "move":
      return move(state, command);
    case "describe":
      return describe(state, command);
    case "stop":
      return stop(state, command);
    case "end": {
      if (state.status === "ended") return alreadySo;
      const { outcome, reason } = command;
      return [{ type: "ExperimentEnded", data: { outcome, reason } }];
    }
    default:
      return assertNever(command, "an experiment's command");
  }
}

function create(
  state: ExperimentState,
  { created, paused }: ExperimentCommand & { kind: "create" },
): Decision {
  if (state.status !== "none") {
    return reject("experiment_exists", "an experiment with this id exists");
  }
  const first: ExperimentEvent = { type: "ExperimentCreated", data: created };
  return paused ? [first] : [first, { type: "ExperimentActivated", data: {} }];
}

function archive(
  { status, archived }: ExperimentState,
  { reason }: ExperimentCommand & { kind: "archive" },
): Decision {
  if (status !== "ended") return notEnded;
  if (archived) return alreadySo;
  const kept = reason.slice(0, limits.messageCharsMax);
  return [{ type: "ExperimentArchived", data: { reason: kept } }];
}

function move(
  state: ExperimentState,
  { workspace, project }: ExperimentCommand & { kind: "move" },
): Decision {
  if (state.workspace === workspace && state.project === project) return alreadySo;
  return [{ type: "ExperimentMoved", data: { workspace, project } }];
}

/**
 * Changes the name, description, notes or labels. An unchanged value is not a conflict, whatever revision was read: a
 * repeat after a lost answer must not be refused as stale (RFC 9110, section 13.1.1).
 */
function describe(
  { words, revision }: ExperimentState,
  { words: change, ifRevision }: ExperimentCommand & { kind: "describe" },
): Decision {
  const after = changedWords(words, change);
  if (isRejection(after)) return after;
  if (sameWords(words, after)) return alreadySo;
  if (ifRevision !== undefined && ifRevision !== revision) {
    return staleRevision(ifRevision, revision);
  }
  const labels = [...after.labels];
  return [{ type: "ExperimentDescribed", data: { ...after, labels, revision: revision + 1 } }];
}

/**
 * Stops an experiment. For an ended one, or after a stop as severe, nothing is left to do. A kill is more severe than a
 * cancel.
 */
function stop(
  state: ExperimentState,
  { stop: kind, reason }: ExperimentCommand & { kind: "stop" },
): Decision {
  if (kind !== StopKind.CANCEL && kind !== StopKind.KILL) {
    return reject("invalid_request", "kind must be cancel or kill");
  }
  if (state.status === "ended") return alreadySo;
  if (state.stop !== null && state.stop.kind >= kind) return alreadySo;
  const kept = reason.slice(0, limits.messageCharsMax);
  return [{ type: "ExperimentStopRequested", data: { kind, reason: kept } }];
}

export const experimentDecider: Decider<ExperimentState, ExperimentCommand, ExperimentEvent> = {
  initial: initialExperiment,
  decide: decideExperiment,
  evolve: evolveExperiment,
};
