/**
 * The maker of a checkpoint: a run of a trial, or a run of a task whose folder is saved. A person who uploads a folder
 * has neither trial nor task.
 */
import { isTaskId, parseTrialId, type Rejection, reject } from "@trainyard/kernel";

export type Maker = {
  /** The trial; empty for a task and for a person. */
  readonly trial: string;
  readonly run: number;
  readonly task?: string | undefined;
};

/** Returns the id of the trial or the task; empty for a person. */
export const makerOf = ({ trial, task }: Pick<Maker, "trial" | "task">): string => task ?? trial;

/** Returns the name of the run, such as 12.3#1 or t12#1. */
export const runOf = (maker: Maker): string => `${makerOf(maker)}#${maker.run}`;

export function isSameRun(one: Maker, other: Maker): boolean {
  return one.trial === other.trial && one.task === other.task && one.run === other.run;
}

/** Returns the maker with this id, as `makerOf` returns it. */
export function makerNamed(id: string, run: number): Maker {
  return isTaskId(id) ? { trial: "", task: id, run } : { trial: id, run };
}

/** Returns why this is neither a run of a trial nor of a task; null if it is one. */
export function refusalOfMaker({ trial, task }: Maker): Rejection | null {
  if (task === undefined) {
    return parseTrialId(trial) === null
      ? reject("trial_not_found", `there is no trial ${trial}`)
      : null;
  }
  if (trial === "" && isTaskId(task)) return null;
  return reject("task_not_found", `there is no task ${task}`);
}
