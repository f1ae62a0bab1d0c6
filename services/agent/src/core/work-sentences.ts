/** Sentences for people about the folder of a task that is saved. */

export type WorkLimits = { readonly bytesMax: number; readonly filesMax: number };

/** The size of a task's folder. */
export type WorkSize = { readonly files: number; readonly bytes: number };

/** The share of a limit from which on a person is warned. */
const warnedShare = 0.8;

const gib = (bytes: number): string => `${Number((bytes / 1024 ** 3).toFixed(2))} GiB`;
const count = (files: number): string => files.toLocaleString("en-US");

/** The sentence for a folder that comes near its limits; null for a smaller one. It is the same at every size. */
export function nearLimit({ files, bytes }: WorkSize, { bytesMax, filesMax }: WorkLimits) {
  const share = `more than ${warnedShare * 100} %`;
  if (bytes > bytesMax * warnedShare) {
    return `the folder of this task has ${share} of the ${gib(bytesMax)} that are saved (TRAINYARD_AGENT_WORK_BYTES of the agent): name what it does not need in .trainyardignore`;
  }
  if (files > filesMax * warnedShare) {
    return `the folder of this task has ${share} of the ${count(filesMax)} files that are saved (TRAINYARD_AGENT_WORK_FILES of the agent): name what it does not need in .trainyardignore`;
  }
  return null;
}

export const beyondLimit =
  "the folder of this task is beyond its limit and is not saved until it is smaller: name what it does not need in .trainyardignore";

export function returned(task: string): string {
  return `the files of ${task} are back; variables of its kernels are gone`;
}

/** The sentence for a save that has more than an agent saves; `why` says what cannot be restored, and why. */
export function tooLargeToRestore(why: string): string {
  return `${why} (TRAINYARD_AGENT_WORK_BYTES and TRAINYARD_AGENT_WORK_FILES of the agent)`;
}

export function unsavedWork(
  why: string,
  {
    task,
    host,
    agent,
    path,
  }: {
    readonly task: string;
    readonly host: string;
    readonly agent: string;
    readonly path: string;
  },
): string {
  return `the folder of ${task} is not saved: ${why}; it stays for a week on host ${host} (agent ${agent}) in ${path}`;
}

/** The warning for a start folder outside of the task's own; null for one inside. */
export function outsideWork(workDir: string, home: string): string | null {
  const isInside = !workDir.startsWith("/") || workDir === home || workDir.startsWith(`${home}/`);
  return isInside
    ? null
    : `work_dir ${workDir} is outside of the task's own folder ${home}, and is not saved`;
}
