import { AllocationEndCause, EndReason, StopMode } from "@trainyard/contracts/events";
import { assertNever, type Decider, type Rejection, reject } from "@trainyard/kernel";
import { limits } from "../../limits.ts";
import { latestOf } from "../sealed.ts";
import { cutEnd } from "./end-texts.ts";
import { evolveAllocation, initialAllocation } from "./evolve.ts";
import type { AllocationCommand, AllocationEvent, AllocationState } from "./state.ts";

type Decision = readonly AllocationEvent[] | Rejection;
type Command<Kind extends AllocationCommand["kind"]> = AllocationCommand & { readonly kind: Kind };

const alreadySo: Decision = [];

function decideAllocation(state: AllocationState, command: AllocationCommand): Decision {
  switch (command.kind) {
    case "queue":
      if (state.status !== "none") return alreadySo;
      return [{ type: "AllocationQueued", data: command.queued }];
    case "explain": {
      const { code, detail, limit } = command;
      if (state.status !== "queued") return alreadySo;
      if (state.wait?.code === code && state.wait.limit === limit) return alreadySo;
      return [
        { type: "WaitExplained", data: { code, detail, ...(limit === null ? {} : { limit }) } },
      ];
    }
    case "grant":
      return grant(state, command);
    case "start":
      if (state.status !== "granted") return alreadySo;
      return [{ type: "AllocationStarted", data: { starts: command.starts } }];
    case "stop":
      return stop(state, command);
    case "withdraw_stop":
      return withdrawStop(state);
    case "acknowledge_stop":
      return acknowledgeStop(state);
    case "end":
      return end(state, command);
    default:
      return assertNever(command, "an allocation's command");
  }
}

/** A run that was withdrawn meanwhile gets no place; the next pass gives it to another run. */
function grant(state: AllocationState, command: Command<"grant">): Decision {
  if (state.status !== "queued") {
    return reject("not_queued", "the allocation is not queued");
  }
  const { placements, masterAddress, masterPort, tokenKey, folded, borrowed, passed } = command;
  const rendezvous = { masterAddress, masterPort, tokenKey };
  const rest = {
    ...(borrowed > 0 ? { borrowed } : {}),
    ...(passed === undefined ? {} : { passed }),
  };
  return [{ type: "AllocationGranted", data: { placements, ...rendezvous, folded, ...rest } }];
}

function stop(state: AllocationState, command: Command<"stop">): Decision {
  const { mode, why, graceMs, by } = command;
  if (state.status === "none" || state.status === "ended") return alreadySo;
  if (state.status === "queued") {
    return [
      {
        type: "AllocationEnded",
        data: {
          cause: AllocationEndCause.WITHDRAWN,
          exits: [],
          message: "the run was stopped before it had a place",
        },
      },
    ];
  }
  const before = state.stop;
  if (before?.mode === StopMode.KILL) return alreadySo;
  // A stop for the same reason is repeated only with less time: a drain can become urgent.
  const isLess = graceMs > 0 && (before?.graceMs === 0 || graceMs < (before?.graceMs ?? 0));
  if (before?.mode === mode && before.why === why && !isLess) return alreadySo;
  return [
    {
      type: "AllocationStopRequested",
      data: { mode, why, graceMs, ...(by === undefined ? {} : { by }) },
    },
  ];
}

function withdrawStop(state: AllocationState): Decision {
  const { status, stop, ownStop, trialStop, stopAcknowledged } = state;
  if (status === "ended" || stopAcknowledged) return alreadySo;
  if (trialStop === null || stop?.mode === StopMode.KILL) return alreadySo;
  const data = ownStop === null ? {} : { remains: ownStop.why };
  return [{ type: "AllocationStopWithdrawn", data }];
}

/** Requests a stop again that was withdrawn after an agent had sent SIGTERM: the run may end any time, or never. */
function acknowledgeStop(state: AllocationState): Decision {
  const { status, stop, withdrawnStop, stopAcknowledged } = state;
  if (status === "ended" || stopAcknowledged) return alreadySo;
  const acknowledged: AllocationEvent = { type: "AllocationStopAcknowledged", data: {} };
  if (stop !== null || withdrawnStop === null) return [acknowledged];
  return [{ type: "AllocationStopRequested", data: withdrawnStop }, acknowledged];
}

function end(state: AllocationState, command: Command<"end">): Decision {
  if (state.status === "none" || state.status === "ended") return alreadySo;
  const { cause, exits, endRecord, message, unsaved } = cutEnd(command);
  const { launchFailure, lastValidation, fault } = command;
  const isExit = cause === AllocationEndCause.EXITED || cause === AllocationEndCause.KILLED;
  // An error after SIGTERM is nobody's fault.
  const isByStop = isExit && state.stopAcknowledged;
  const checkpoints = latestOf(command.sealed ?? [], limits.sealedOfRunMax);
  const ended: AllocationEvent = {
    type: "AllocationEnded",
    data: {
      cause,
      exits,
      ...(endRecord === null ? {} : { endRecord }),
      ...(launchFailure === undefined ? {} : { launchFailure }),
      message,
      ...(checkpoints.length === 0 ? {} : { sealed: { checkpoints } }),
      ...(lastValidation === undefined ? {} : { lastValidation }),
      ...(fault === undefined || isByStop ? {} : { fault }),
      ...(unsaved === undefined ? {} : { unsaved }),
    },
  };
  const acknowledged = endRecord?.reason === EndReason.ACKNOWLEDGED_STOP;
  if (!acknowledged || state.stopAcknowledged) return [ended];
  return [{ type: "AllocationStopAcknowledged", data: {} }, ended];
}

export const allocationDecider: Decider<AllocationState, AllocationCommand, AllocationEvent> = {
  initial: initialAllocation,
  decide: decideAllocation,
  evolve: evolveAllocation,
};
