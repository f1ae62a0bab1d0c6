import { watch } from "node:fs";

/** Kernel notifications are optional: if the limit of watches is reached, polling has to do. */
export function watching(path: string, callback: () => void): Disposable {
  try {
    const watcher = watch(path, callback);
    watcher.on("error", () => watcher.close());
    return { [Symbol.dispose]: () => watcher.close() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "ENOSPC" && code !== "EMFILE") throw error;
    return { [Symbol.dispose]: () => {} };
  }
}
