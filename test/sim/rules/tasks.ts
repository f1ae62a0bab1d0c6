import type { AnyEvent, EventData } from "@trainyard/contracts";
import { RunEndWhy, TaskOutcome } from "@trainyard/contracts/events";
import { recordedTask } from "@trainyard/experiment-config/recorded";
import type { Report } from "../invariants.ts";
import type { CheckpointRules } from "./checkpoints.ts";

type TaskFacts = {
  readonly maxRestarts: number;
  readonly preemptible: boolean;
  readonly keepsWork: boolean;
  runs: number;
  /** True until the newest run has ended. */
  unended: boolean;
  started: boolean;
  last: EventData<"RunEnded"> | null;
  restarts: number;
  killed: boolean;
  paused: boolean;
  ended: boolean;
  /** True from the continuation of the task to its next run. */
  resumed: boolean;
  saves: readonly { readonly checkpoint: string; readonly step: number }[];
  /** The saves that the last run has left, and until when its next run waits for them. */
  readonly named: Set<string>;
  awaitedUntilMs: number;
};

/** The events of an ended task: its saves may arrive late, and a person may resume or delete it. */
const afterEnd: ReadonlySet<string> = new Set([
  "TaskSaved",
  "RunCheckpointsNamed",
  "TaskResumed",
  "TaskDeleted",
]);

/**
 * The rule of tasks: a task has one run at a time, another one only after a failure within `max_restarts`, after a stop
 * for others if it is preemptible or keeps its work, or if the run was never launched, and none after a kill or a pause
 * until it is resumed. It ends with its last run. A run starts from the latest save of the task that is usable, and not
 * while another one is on its way.
 */
export class TaskRules {
  readonly #checkpoints: CheckpointRules;
  readonly #facts = new Map<string, TaskFacts>();
  /** The allocations of tasks that have not ended. */
  readonly #held = new Set<string>();

  constructor(checkpoints: CheckpointRules) {
    this.#checkpoints = checkpoints;
  }

  see(id: string, event: AnyEvent, timeMs: number, report: Report): void {
    if (event.type === "TaskCreated") return this.#create(id, event.data, report);
    const task = this.#facts.get(id);
    if (task === undefined) return report("the task was never created");
    if (task.ended && !afterEnd.has(event.type)) report("the task had ended");
    switch (event.type) {
      case "RunRequested":
        this.#start(task, event.data, timeMs, report);
        return request(task, event.data.run, report);
      case "RunStarted":
        if (task.started) report("it had started");
        task.started = true;
        return isUnended(task, event.data.run, report);
      case "RunStopRequested":
        if (!task.killed && !task.paused) report("nobody has killed or paused the task");
        return isUnended(task, event.data.run, report);
      case "RunEnded":
        isUnended(task, event.data.run, report);
        task.unended = false;
        task.last = event.data;
        return name(task, event.data.sealed?.checkpoints ?? [], event.data.awaitedUntilMs ?? 0);
      case "TaskKillRequested":
        if (task.killed) report("it was killed before");
        task.killed = true;
        return;
      case "TaskPauseRequested":
        if (task.paused || task.killed) report("it was stopped before");
        if (!task.keepsWork) report("its work is not kept");
        task.paused = true;
        return;
      case "TaskSaved":
        return save(task, event.data, report);
      case "RunCheckpointsNamed":
        if (event.data.run !== task.runs) report("saves of an earlier run are named");
        return name(task, event.data.checkpoints, event.data.awaitedUntilMs);
      case "TaskEnded":
        return end(task, event.data, report);
      case "TaskResumed":
        if (!task.ended || !task.keepsWork) report("it cannot be resumed");
        Object.assign(task, {
          ended: false,
          killed: false,
          paused: false,
          restarts: 0,
          resumed: true,
        });
        return;
      case "TaskDeleted":
        if (!task.ended) report("it has not ended");
        return;
      default:
        return report("it is no event of a task");
    }
  }

  /** Judges the save that a run starts from. */
  #start(
    task: TaskFacts,
    { fromCheckpoint, fromStep }: EventData<"RunRequested">,
    timeMs: number,
    report: Report,
  ): void {
    for (const one of timeMs < task.awaitedUntilMs ? task.named : []) {
      if (!this.#checkpoints.isSettled(one)) report(`${one} is on its way`);
    }
    const latest = task.saves
      .filter(({ checkpoint }) => this.#checkpoints.isUsable(checkpoint))
      .reduce((one, save) => (save.step > one.step ? save : one), { checkpoint: "", step: 0 });
    if (fromCheckpoint !== latest.checkpoint || fromStep !== latest.step) {
      report(`it starts from ${fromCheckpoint || "nothing"}, not from ${latest.checkpoint}`);
    }
    if (fromCheckpoint === "" && task.saves.length > 0) report("it starts without its files");
    task.saves = task.saves.filter(({ step }) => step <= fromStep);
    task.named.clear();
    task.awaitedUntilMs = 0;
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
    const { maxRestarts, preemptible, keepsWork } = recordedTask(config, kind);
    this.#facts.set(id, {
      ...{ maxRestarts, preemptible, keepsWork, runs: 0, unended: false, started: false },
      ...{ last: null, restarts: 0, killed: false, paused: false, ended: false, resumed: false },
      ...{ saves: [], named: new Set(), awaitedUntilMs: 0 },
    });
  }
}

type Named = readonly { readonly checkpoint: string }[];

function name(task: TaskFacts, checkpoints: Named, untilMs: number): void {
  for (const { checkpoint } of checkpoints) task.named.add(checkpoint);
  task.awaitedUntilMs = Math.max(task.awaitedUntilMs, untilMs);
}

function save(
  task: TaskFacts,
  { checkpoint, run, step }: EventData<"TaskSaved">,
  report: Report,
): void {
  if (!task.keepsWork || run !== task.runs) report("it is no save of its last run");
  if (task.saves.some((one) => one.checkpoint === checkpoint)) report("it was saved before");
  task.saves = [...task.saves, { checkpoint, step }];
  task.named.delete(checkpoint);
}

function request(task: TaskFacts, run: number, report: Report): void {
  const { last } = task;
  if (task.unended) report(`run ${task.runs} had not ended`);
  if (run !== task.runs + 1) report(`run ${run} is out of turn`);
  if (task.killed) report("the task was killed");
  if (task.paused) report("the task was paused");
  if (last === null && run !== 1) report("no run has ended");
  if (!task.resumed) repeat(task, report);
  if (task.restarts > task.maxRestarts) {
    report(`it is restart ${task.restarts} of ${task.maxRestarts}`);
  }
  task.runs = run;
  task.unended = true;
  task.started = false;
  task.resumed = false;
}

/** Judges a run that follows another one by itself. */
function repeat(task: TaskFacts, report: Report): void {
  const { last } = task;
  if (last?.why === RunEndWhy.FINISHED) report("the last run has finished");
  if (last?.countsAsRestart === true) task.restarts += 1;
  else if (last !== null && !isExcused(last, task)) report("the end does not count");
}

/** True for a stop of a task that is preemptible or keeps its work, and for a run that was never launched. */
function isExcused(
  { why, launchFailure }: EventData<"RunEnded">,
  { preemptible, keepsWork }: TaskFacts,
): boolean {
  if (why === RunEndWhy.WITHDRAWN || launchFailure?.platformAway === true) return true;
  return (
    (preemptible || keepsWork) && (why === RunEndWhy.ACKNOWLEDGED_STOP || why === RunEndWhy.KILLED)
  );
}

function isUnended(task: TaskFacts, run: number, report: Report): void {
  if (run !== task.runs || !task.unended) report(`run ${run} is not the task's unended one`);
}

function end(task: TaskFacts, { outcome }: EventData<"TaskEnded">, report: Report): void {
  if (task.unended || task.last === null) report(`run ${task.runs} had not ended`);
  task.ended = true;
  if (outcome === TaskOutcome.PAUSED) {
    if (!task.paused && task.last?.why !== RunEndWhy.IDLE) report("nobody has paused it");
    return;
  }
  const why = task.resumed ? RunEndWhy.UNSPECIFIED : task.last?.why;
  const mayComplete = why === RunEndWhy.FINISHED || why === RunEndWhy.IDLE;
  const isCompleted = outcome === TaskOutcome.COMPLETED;
  if (isCompleted ? !mayComplete : why === RunEndWhy.FINISHED) report("its run ended otherwise");
  if (outcome === TaskOutcome.KILLED && !task.killed) report("nobody has killed it");
}
