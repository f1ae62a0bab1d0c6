/**
 * Allows one agent process per state folder: two would start runs twice. The lock is a listening socket in Linux's
 * abstract namespace, which the kernel releases when its holder ends in any way. Other systems have no such lock.
 */
import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { type Clock, Fault, pause } from "@trainyard/kernel";
import { limits } from "../limits.ts";

const againMs = 100;

export async function lockFolder(
  folder: string,
  clock: Clock,
  waitMs: number = limits.folderLockMs,
): Promise<AsyncDisposable> {
  if (process.platform !== "linux") return { [Symbol.asyncDispose]: async () => {} };
  const digest = createHash("sha256").update(realpathSync(folder)).digest("hex").slice(0, 32);
  const deadlineMs = clock.monotonicMs() + waitMs;
  for (;;) {
    const server = await listen(`\0trainyard-agent-${digest}`);
    if (server !== null) {
      server.unref();
      return {
        [Symbol.asyncDispose]: () => new Promise((resolve) => server.close(() => resolve())),
      };
    }
    if (clock.monotonicMs() > deadlineMs) {
      throw new Fault(
        "folder_in_use",
        `another agent process uses ${folder}: stop it, or give this one a folder of its own`,
        {
          retry: "later",
        },
      );
    }
    await pause(clock, againMs);
  }
}

/** Null when another process listens on this name. */
function listen(name: string): Promise<Server | null> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => socket.destroy());
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(null);
      else reject(error);
    });
    server.listen(name, () => resolve(server));
  });
}
