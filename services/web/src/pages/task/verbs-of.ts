/**
 * The verbs that a task's page offers in each state: pure. The server decides; the page explains a verb that it would
 * refuse for certain.
 */
import type { Plain } from "@trainyard/contracts";
import type { Task } from "@trainyard/contracts/api";

export type TaskVerb = "pause" | "resume" | "kill" | "delete";

type OfferedVerb = {
  readonly verb: TaskVerb;
  readonly title: string;
  /** The reason why the verb cannot run; absent if it can. */
  readonly why?: string | undefined;
};

/** The parts of a task that decide whether it can be paused or resumed. */
export type Paused = Pick<
  Plain<Task>,
  "kind" | "state" | "endedAtMs" | "keepsWork" | "lastSave" | "unsaved"
>;

export function verbsOf(task: Paused): readonly OfferedVerb[] {
  return task.endedAtMs === undefined
    ? [
        { verb: "pause", title: "Pause", why: whyNotPaused(task) },
        { verb: "kill", title: "Kill" },
      ]
    : [
        { verb: "resume", title: "Resume", why: whyNotResumed(task) },
        { verb: "delete", title: "Delete" },
      ];
}

function whyNotPaused(task: Paused): string | undefined {
  if (!task.keepsWork) return notKept(task);
  return task.state === "STOPPING" ? "Its processes are being ended." : undefined;
}

/** A save that an agent still has to deliver is not in `lastSave`, so its absence alone decides nothing. */
function whyNotResumed(task: Paused): string | undefined {
  if (!task.keepsWork) return notKept(task);
  const isLost = task.lastSave === undefined && task.unsaved !== "";
  return isLost ? "Nothing of its folder was saved." : undefined;
}

function notKept({ kind }: Paused): string {
  return kind === "command"
    ? "Its folder is not saved: it has no keep_work."
    : `The folder of a ${kind} is not saved.`;
}
