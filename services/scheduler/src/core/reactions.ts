/** This service's reactions to events of other services. */
import type { EventData, Plain } from "@trainyard/contracts";
import type { Resources } from "@trainyard/contracts/events";
import { defaultPool } from "@trainyard/experiment-config/recorded";
import { type AllocationId, allocationId, isTaskId } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { AllocationCommand } from "./allocation/state.ts";

export type AddressedCommand = {
  readonly allocation: AllocationId;
  readonly command: AllocationCommand;
};

/**
 * `owner` is the trial or the task of the run. A task is a job of its own. `defaultPriority` is the pool's priority for
 * requests without one.
 */
export function onRunRequested(
  owner: string,
  requested: EventData<"RunRequested">,
  defaultPriority: (pool: string) => number,
): AddressedCommand {
  const { run, resources, preemptible, experiment, delayMs, avoided } = requested;
  const { workspace, owner: person } = requested;
  return {
    allocation: allocationId(owner, run),
    command: {
      kind: "queue",
      queued: {
        task: owner,
        run,
        job: isTaskId(owner) ? owner : experiment,
        resources: resourcesOf(resources, defaultPriority),
        preemptible,
        delayMs,
        ...(avoided === undefined ? {} : { avoided }),
        workspace,
        owner: person,
      },
    },
  };
}

function resourcesOf(
  asked: EventData<"RunRequested">["resources"],
  defaultPriority: (pool: string) => number,
): Plain<Resources> {
  const { maxSlots, timeLimitMs, preemptionTimeoutMs, constraints } = asked ?? {};
  const pool = asked?.pool || defaultPool;
  const priority = asked?.priority || defaultPriority(pool);
  return {
    pool,
    slots: asked?.slots ?? 0,
    priority: clampPriority(priority),
    weight: asked?.weight ?? 0,
    singleAgent: asked?.singleAgent ?? false,
    ...(maxSlots === undefined ? {} : { maxSlots }),
    ...(timeLimitMs === undefined ? {} : { timeLimitMs }),
    ...(preemptionTimeoutMs === undefined ? {} : { preemptionTimeoutMs }),
    ...(constraints === undefined ? {} : { constraints }),
  };
}

function clampPriority(priority: number): number {
  return Math.min(Math.max(priority, limits.priorityMin), limits.priorityMax);
}

export function onRunStopRequested(
  owner: string,
  stop: EventData<"RunStopRequested">,
): AddressedCommand {
  const { run, mode, why, graceMs } = stop;
  return { allocation: allocationId(owner, run), command: { kind: "stop", mode, why, graceMs } };
}

export function onRunStopWithdrawn(
  owner: string,
  { run }: EventData<"RunStopWithdrawn">,
): AddressedCommand {
  return { allocation: allocationId(owner, run), command: { kind: "withdraw_stop" } };
}
