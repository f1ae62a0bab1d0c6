import { watch } from "node:fs";

/**
 * The kernel's announcements are a help, not a need: where there are too many watches, looking now and then must do.
 */
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
