/**
 * The folders /tmp and /dev/shm of a run: its own, or the host's. A run keeps the host's if its command or its
 * variables name a path below the folder: its code, its storages or its data would be hidden.
 */

/** The folders that are mounted for a run. */
export type OwnFolders = {
  readonly shm: boolean;
  /** The folder that is its /tmp; null for the host's. */
  readonly tmp: string | null;
};

/** Not /var/tmp, and not the folder /tmp itself, which TMPDIR often names. */
const belowTmp = /(?<![\w.-])\/tmp\/+[^\s/"']/;
const belowShm = /(?<![\w.-])\/dev\/shm\/+[^\s/"']/;

export function ownFoldersOf(
  argv: readonly string[],
  environment: Readonly<Record<string, string>>,
  tmp: string,
): OwnFolders {
  const texts = [...argv, ...Object.values(environment)];
  return {
    shm: !texts.some((text) => belowShm.test(text)),
    tmp: texts.some((text) => belowTmp.test(text)) ? null : tmp,
  };
}
