import type { Plain } from "@trainyard/contracts";
import type { UpdateJob } from "@trainyard/contracts/commands";
import { type Rejection, reject } from "@trainyard/kernel";
import { type JobChange, schedulingLimits } from "@trainyard/scheduling";
import { priorityProblem } from "./configuration.ts";
import type { JobEvent } from "./decide.ts";

/** The event of a change; none if the job has these values already. */
export function updateOf(
  { job, priority, weight, maxSlots }: Plain<UpdateJob>,
  before: JobChange = {},
): readonly JobEvent[] | Rejection {
  const problem =
    priority === undefined && weight === undefined && maxSlots === undefined
      ? "it changes nothing: give priority, weight or max_slots"
      : ((priority === undefined ? null : priorityProblem("priority", priority)) ??
        weightProblem(weight));
  if (problem !== null) return reject("invalid_request", problem);
  const limit = before.maxSlots === null ? 0 : before.maxSlots;
  const isSame =
    (priority ?? before.priority) === before.priority &&
    (weight ?? before.weight) === before.weight &&
    (maxSlots ?? limit) === limit;
  if (isSame) return [];
  const data = {
    job,
    ...(priority === undefined ? {} : { priority }),
    ...(weight === undefined ? {} : { weight }),
    ...(maxSlots === undefined ? {} : { maxSlots }),
  };
  return [{ type: "JobUpdated", data }];
}

function weightProblem(weight: number | undefined): string | null {
  if (weight === undefined) return null;
  if (!(Number.isFinite(weight) && weight > 0)) {
    return `weight is ${weight}, but it has to be more than 0`;
  }
  const { weightMin, weightMax } = schedulingLimits;
  if (weight >= weightMin && weight <= weightMax) return null;
  return `weight is ${weight}, but it has to be from ${weightMin} to ${weightMax}`;
}
