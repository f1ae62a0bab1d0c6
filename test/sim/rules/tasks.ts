import type { AnyEvent, EventData } from "@trainyard/contracts";
import { RunEndWhy, TaskOutcome } from "@trainyard/contracts/events";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import type { Report } from "../invariants.ts";

type TaskFacts = {
  readonly maxRestarts: number;
  readonly preemptible: boolean;
  runs: number;
  /** True until the newest run has ended. */
  unended: boolean;
  started: boolean;
  last: EventData<"RunEnded"> | null;
  restarts: number;
  killed: boolean;
  ended: boolean;
};

/**
 * The rule of tasks: a task has one run at a time, another one only after a failure within `max_restarts`, after a stop
 * for others if it is preemptible, or if the run was never launched, and none after a kill. It ends with its last run.
 */
export class TaskRules {
  readonly #facts = new Map<string, TaskFacts>();
  /** The allocations of tasks that have not ended. */
  readonly #held = new Set<string>();

  see(id: string, event: AnyEvent, report: Report): void {
    if (event.type === "TaskCreated") return this.#create(id, event.data, report);
    const task = this.#facts.get(id);
    if (task === undefined) return report("the task was never created");
    if (task.ended && event.type !== "TaskDeleted") report("the task had ended");
    switch (event.type) {
      case "RunRequested":
        return request(task, event.data.run, report);
      case "RunStarted":
        if (task.started) report("it had started");
        task.started = true;
        return isUnended(task, event.data.run, report);
      case "RunStopRequested":
        if (!task.killed) report("nobody has killed the task");
        return isUnended(task, event.data.run, report);
      case "RunEnded":
        isUnended(task, event.data.run, report);
        task.unended = false;
        task.last = event.data;
        return;
      case "TaskKillRequested":
        if (task.killed) report("it was killed before");
        task.killed = true;
        return;
      case "TaskEnded":
        return end(task, event.data, report);
      case "TaskDeleted":
        if (!task.ended) report("it has not ended");
        return;
      default:
        return report("it is no event of a task");
    }
  }

  /** Notes which allocations of tasks have a place in the queue or slots. */
  seeAllocation(id: string, event: AnyEvent): void {
    if (event.type === "AllocationQueued" && id.startsWith("t")) this.#held.add(id);
    if (event.type === "AllocationEnded") this.#held.delete(id);
  }

  /** Returns what an ended world still has of tasks: all have ended, and their slots are free. */
  left(): readonly string[] {
    const open = [...this.#facts].filter(([, { ended }]) => !ended);
    return [
      ...open.map(([id]) => `task ${id} has not ended`),
      ...[...this.#held].map((id) => `allocation ${id} has not ended`),
    ];
  }

  #create(id: string, { config, kind }: EventData<"TaskCreated">, report: Report): void {
    if (this.#facts.has(id)) report("it was created before");
    const { maxRestarts, preemptible } = recordedTask(config, kind);
    this.#facts.set(id, {
      ...{ maxRestarts, preemptible, runs: 0, unended: false, started: false, last: null },
      ...{ restarts: 0, killed: false, ended: false },
    });
  }
}

function request(task: TaskFacts, run: number, report: Report): void {
  const { last } = task;
  if (task.unended) report(`run ${task.runs} had not ended`);
  if (run !== task.runs + 1) report(`run ${run} is out of turn`);
  if (task.killed) report("the task was killed");
  if (last === null && run !== 1) report("no run has ended");
  if (last?.why === RunEndWhy.FINISHED) report("the last run has finished");
  if (last?.countsAsRestart === true) task.restarts += 1;
  else if (last !== null && !isExcused(last, task.preemptible)) report("the end does not count");
  if (task.restarts > task.maxRestarts) {
    report(`it is restart ${task.restarts} of ${task.maxRestarts}`);
  }
  task.runs = run;
  task.unended = true;
  task.started = false;
}

/** True for a stop of a preemptible task, and for a run that was never launched. */
function isExcused({ why, launchFailure }: EventData<"RunEnded">, preemptible: boolean): boolean {
  if (why === RunEndWhy.WITHDRAWN || launchFailure?.platformAway === true) return true;
  return preemptible && (why === RunEndWhy.ACKNOWLEDGED_STOP || why === RunEndWhy.KILLED);
}

function isUnended(task: TaskFacts, run: number, report: Report): void {
  if (run !== task.runs || !task.unended) report(`run ${run} is not the task's unended one`);
}

function end(task: TaskFacts, { outcome }: EventData<"TaskEnded">, report: Report): void {
  if (task.unended || task.last === null) report(`run ${task.runs} had not ended`);
  task.ended = true;
  const hasFinished = task.last?.why === RunEndWhy.FINISHED;
  if (hasFinished !== (outcome === TaskOutcome.COMPLETED)) report("its run ended otherwise");
  if (outcome === TaskOutcome.KILLED && !task.killed) report("nobody has killed it");
}
