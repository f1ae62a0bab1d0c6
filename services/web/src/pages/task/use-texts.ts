/** Formats the use of a task, its folder and its last save for people: pure. */
import type { Plain } from "@trainyard/contracts";
import type { Task, TaskSave, TaskUse as ApiTaskUse } from "@trainyard/contracts/api";
import { age, bytes, counted, duration } from "../../components/format.ts";

export type TaskUse = Plain<ApiTaskUse>;

/** Returns whether the task is used, and the time after which it ends without use; empty if there is none. */
export function idleText(
  { inUse, idleSeconds, idleTimeoutSeconds }: TaskUse,
  { keepsWork }: Pick<Plain<Task>, "keepsWork">,
): string {
  if (idleTimeoutSeconds === 0) return "";
  const ends = keepsWork ? "pauses" : "ends";
  if (inUse) return `in use, ${ends} after ${lasting(idleTimeoutSeconds)} without use`;
  const left = idleTimeoutSeconds - idleSeconds;
  const when = left > 0 ? `in ${lasting(left)}` : "now";
  return `not used for ${lasting(idleSeconds)}, ${ends} ${when}`;
}

/** Returns the size of the folder that is saved; empty if it is not known. */
export function folderText(use: TaskUse | undefined): string {
  return use?.folderBytes === undefined ? "" : sizeText(use.folderBytes, use.folderFiles ?? 0);
}

/** Returns the time and the size of the last save; empty if there is none. */
export function savedText(save: Plain<TaskSave> | undefined, nowMs: number): string {
  if (save === undefined) return "";
  return `${age(save.savedAtMs, nowMs)}, ${sizeText(save.bytes, save.files)}`;
}

const sizeText = (size: number, files: number): string =>
  `${bytes(size)}, ${counted(files, "file")}`;

const lasting = (seconds: number): string => duration(Math.round(seconds) * 1_000);
