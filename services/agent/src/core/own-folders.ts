/**
 * The folders /tmp and /dev/shm of a run: its own, or the host's. A run keeps the host's if its command or its
 * variables name a path below the folder: its code, its storages or its data would be hidden. What the agent inherited
 * does not count: an agent that somebody started in a shell has variables with sockets below /tmp.
 */

/** The folders that are mounted for a run. */
export type OwnFolders = {
  /** The most bytes in its /dev/shm; null for the host's. */
  readonly shm: number | null;
  /** The folder that is its /tmp; null for the host's. */
  readonly tmp: string | null;
};

/** Not /var/tmp, and not the folder /tmp itself, which TMPDIR often names. */
const belowTmp = /(?<![\w.-])\/tmp\/+[^\s/"']/;
const belowShm = /(?<![\w.-])\/dev\/shm\/+[^\s/"']/;

export function ownFoldersOf(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  { shm, tmp }: { readonly shm: number; readonly tmp: string },
): OwnFolders {
  const texts = [...argv, ...Object.values(environment)];
  return {
    shm: texts.some((text) => belowShm.test(text)) ? null : shm,
    tmp: texts.some((text) => belowTmp.test(text)) ? null : tmp,
  };
}

/** The run's part of the half of the memory that a tmpfs has by default, so that the runs of a host fill no more. */
export function shmBytes(memoryBytes: number, slots: number, hostSlots: number): number {
  return Math.floor((memoryBytes / 2) * Math.min(1, Math.max(1, slots) / Math.max(1, hostSlots)));
}
