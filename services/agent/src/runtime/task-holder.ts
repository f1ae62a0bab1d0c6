/**
 * The command of a task's run: its holder, which starts the task's command and serves its terminals. The run's folder
 * has a copy of the holder's programs: the run's user may not be able to read the agent's own files, and a container
 * does not have them.
 */
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { basename, join } from "node:path";
import { taskConfig } from "@trainyard/experiment-config/recorded";
import { argvOf } from "../core/environment.ts";
import { serverCommand, serverPrograms } from "../servers/command.ts";
import { names } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";

const programs = join(import.meta.dirname, "..", "supervisor");
/** The holder with its modules. */
const files = [
  "connection.py",
  "execution.py",
  "frames.py",
  "holder.py",
  "loop.py",
  "packages.py",
  "parent.py",
  "record.py",
  "spawning.py",
  "terminal.py",
  "use.py",
  "viewer.py",
] as const;

/** The kind whose command is a login shell in its first terminal. */
const shellKind = "shell";

export type HeldCommand = {
  readonly argv: readonly string[];
  /** The folder with the holder's programs; null for a run of a trial. */
  readonly holder: string | null;
};

/** The command of a run as a process of this host. `python` starts a program in Python. */
export function heldCommand(folder: RunFolder, python: readonly string[]): readonly string[] {
  if (!folder.isTask) return argvOf(folder.launch);
  const holder = putHolder(folder.path);
  return [...python, join(holder, "holder.py"), ...holderArguments(folder, holder)];
}

/** The command of a run in a container of the image. `before` are shell commands before a trial's entrypoint. */
export function heldCommandIn(image: string, folder: RunFolder, before: string): HeldCommand {
  if (!folder.isTask) return { argv: argvOf(folder.launch, before), holder: null };
  const holder = putHolder(folder.path);
  const argv = ["sh", "-c", withPython, "sh", image, join(holder, "holder.py")];
  return { argv: [...argv, ...holderArguments(folder, holder)], holder };
}

const withPython = `image="$1"; shift; command -v python3 >/dev/null 2>&1 || { echo "the image $image has no python3, which every task needs: name an image with Python 3.7 or later in environment.image" >&2; exit 126; }; exec python3 -I -S -E "$@"`;

function putHolder(runFolder: string): string {
  const folder = join(runFolder, names.holder);
  mkdirSync(folder, { recursive: true });
  chmodSync(folder, 0o755);
  const copied = [
    ...files.map((file) => join(programs, file)),
    ...serverPrograms.files.map((file) => join(serverPrograms.folder, file)),
  ];
  for (const path of copied) {
    const copy = join(folder, basename(path));
    copyFileSync(path, copy);
    chmodSync(copy, 0o644);
  }
  return folder;
}

function holderArguments(folder: RunFolder, holder: string): readonly string[] {
  const { launch } = folder;
  const kind = launch.task?.kind ?? "";
  const { work_dir } = taskConfig(JSON.parse(launch.config));
  return [
    kind,
    work_dir,
    ...(serverCommand(folder, holder) ?? (kind === shellKind ? [] : argvOf(launch))),
  ];
}
