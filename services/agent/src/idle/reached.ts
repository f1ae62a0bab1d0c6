/** The use of a task, as its agent sees it at this moment. */
import type { Plain } from "@trainyard/contracts";
import type { TaskUse } from "@trainyard/contracts/api";
import type { RunIdle } from "./run-idle.ts";

export type UsedRun<Folder> = {
  readonly folder: Folder;
  /** The living processes of the run. */
  readonly pids: ReadonlySet<number>;
  /** Whether the run's processes run, and its server, if the task has one, has answered. */
  readonly isRunning: boolean;
  readonly idle: Pick<RunIdle, "fields" | "ports">;
};

type FolderSeen = Pick<
  Plain<TaskUse>,
  "notice" | "folderBytes" | "folderFiles" | "savedSecondsAgo"
>;

/** Returns what the tunnel of a run reaches. `saves` knows the folder that is saved. */
export function reachedBy<Folder>(run: UsedRun<Folder>, saves: { readonly seen: FolderSeen }) {
  const { folder, idle } = run;
  const use = (): Plain<TaskUse> => {
    const { fields } = idle;
    const { seen } = saves;
    return { ready: run.isRunning, ...seen, ...fields, notice: fields.notice || seen.notice };
  };
  return { folder, pids: () => run.pids, ports: idle.ports, use };
}
