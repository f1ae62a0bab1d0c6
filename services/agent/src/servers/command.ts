/** The command of a task with a page: the program of its server, in the task's own Python. */
import { dirname, join } from "node:path";
import { names } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { isPageKind } from "./kinds.ts";
import { packageFolders } from "./packages.ts";

/** The programs, by their folder. They are copied beside the holder's. */
export const serverPrograms = {
  folder: import.meta.dirname,
  files: [
    "door.py",
    "jupyter_connections.py",
    "jupyter_page.py",
    "late_grammar.py",
    "page_kernel.py",
    "page_server.py",
    "tensorboard_page.py",
  ],
} as const;

/** The agent's package folders, beside the folders of its runs. */
export const packagesRootOf = ({ path }: Pick<RunFolder, "path">): string =>
  join(dirname(dirname(path)), names.packages);

/** Returns the command of a task with a page; null for another task. `programs` is the folder of the programs. */
export function serverCommand(folder: RunFolder, programs: string): readonly string[] | null {
  const kind = folder.launch.task?.kind ?? "";
  if (!isPageKind(kind)) return null;
  const folders = JSON.stringify(packageFolders(packagesRootOf(folder), kind));
  return ["python3", join(programs, "page_server.py"), kind, folders];
}
