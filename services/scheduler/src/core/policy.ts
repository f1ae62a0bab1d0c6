/** What this service does about others' events. */
import type { EventData } from "@trainyard/contracts";
import { defaults } from "@trainyard/experiment-config/recorded";
import { type RunId, runId } from "@trainyard/kernel";
import { limits } from "../limits.ts";
import type { AllocationCommand } from "./allocation/state.ts";

export type Asked = { readonly allocation: RunId; readonly command: AllocationCommand };

export function onRunRequested(trial: string, requested: EventData<"RunRequested">): Asked {
  const { run, resources, preemptible, experiment, delayMs, avoided } = requested;
  const priority = resources?.priority ?? 0;
  return {
    allocation: runId(trial, run),
    command: {
      kind: "queue",
      queued: {
        task: trial,
        run,
        job: experiment,
        resources: {
          pool: resources?.pool || defaults.resources.resource_pool,
          slots: resources?.slots ?? 0,
          priority: priority === 0 ? defaults.resources.priority : clampPriority(priority),
          weight: resources?.weight ?? 0,
          singleAgent: resources?.singleAgent ?? false,
        },
        preemptible,
        delayMs,
        ...(avoided === undefined ? {} : { avoided }),
      },
    },
  };
}

function clampPriority(priority: number): number {
  return Math.min(Math.max(priority, limits.priorityMin), limits.priorityMax);
}

export function onRunStopRequested(trial: string, stop: EventData<"RunStopRequested">): Asked {
  const { run, mode, why, graceMs } = stop;
  return { allocation: runId(trial, run), command: { kind: "stop", mode, why, graceMs } };
}
