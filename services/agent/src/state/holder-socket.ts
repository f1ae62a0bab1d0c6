/**
 * Connects to the holder of a task's run. The run's user can replace the socket in its folder by a link to any other
 * socket of the host, such as that of a container engine, and the agent may be root. So the socket is opened without
 * following links, checked, and then connected to through its open descriptor, which nobody can exchange. This also
 * makes its address short: an address has at most 107 bytes.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { ownerOfFolder } from "./run-folders.ts";

/** The name of the socket in TRAINYARD_RUN_DIR, as in holder.py. */
const socketName = "holder.sock";
/** open(2)'s flag for a descriptor of the path alone, which Node does not name: a socket cannot be opened otherwise. */
const O_PATH = 0o10000000;

/** Rejects with a Fault `no_holder` if the run has no holder that listens. */
export async function connectHolder(runDir: string): Promise<Socket> {
  const descriptor = openHolder(runDir);
  try {
    return await connected(`/proc/self/fd/${descriptor}`);
  } catch (cause) {
    throw noHolder("nothing listens on the socket of its holder", cause);
  } finally {
    closeSync(descriptor);
  }
}

function openHolder(runDir: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(join(runDir, socketName), O_PATH | constants.O_NOFOLLOW);
  } catch (cause) {
    throw noHolder("its folder has no socket of a holder", cause);
  }
  const status = fstatSync(descriptor);
  const owner = ownerOfFolder(runDir);
  // A hard link can name another user's socket. A run without a user of its own may be a container of another user.
  const isOwn = owner === null || status.uid === owner.uid;
  if (status.isSocket() && status.nlink === 1 && isOwn) return descriptor;
  closeSync(descriptor);
  throw noHolder("what its folder has in place of its holder's socket is something else", null);
}

function connected(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function noHolder(why: string, cause: unknown): Fault {
  return new Fault("no_holder", `the task cannot be reached: ${why}`, { retry: "later", cause });
}
