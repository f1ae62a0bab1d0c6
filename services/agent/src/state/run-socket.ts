/**
 * Connects to a socket in the folder of a task's run: its holder's, or its page's. The run's user can replace it by a
 * link to any other socket of the host, such as that of a container engine, and the agent may be root. So the socket is
 * opened without following links, checked, and then connected to through its open descriptor, which nobody can
 * exchange. This also makes its address short: an address has at most 107 bytes.
 */
import { closeSync, constants, fstatSync, openSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import { Fault } from "@trainyard/kernel";
import { ownerOfFolder } from "./run-folders.ts";

/** A socket by its name in TRAINYARD_RUN_DIR, and the words of its refusals. */
type RunSocket = {
  readonly name: string;
  readonly code: string;
  readonly of: string;
  readonly what: string;
  /** Whether the end of what it writes leaves it open for what it gets, as in HTTP. */
  readonly allowHalfOpen: boolean;
};

/** The name is the one in holder.py. */
const holder: RunSocket = {
  name: "holder.sock",
  code: "no_holder",
  of: "holder",
  what: "the task cannot be reached",
  allowHalfOpen: false,
};
/** The name is the one in servers/launch.py. */
const page: RunSocket = {
  name: "page.sock",
  code: "no_page",
  of: "page",
  what: "the task's page cannot be reached",
  allowHalfOpen: true,
};

/** Rejects with a Fault `no_holder` if the run has no holder that listens. */
export const connectHolder = (runDir: string): Promise<Socket> => connectTo(runDir, holder);

/** Rejects with a Fault `no_page` if the run has no server of a page that listens. */
export const connectPage = (runDir: string): Promise<Socket> => connectTo(runDir, page);

/** open(2)'s flag for a descriptor of the path alone, which Node does not name: a socket cannot be opened otherwise. */
const O_PATH = 0o10000000;

async function connectTo(runDir: string, asked: RunSocket): Promise<Socket> {
  const descriptor = openSocket(runDir, asked);
  try {
    return await connected(`/proc/self/fd/${descriptor}`, asked.allowHalfOpen);
  } catch (cause) {
    throw unreachable(asked, `nothing listens on the socket of its ${asked.of}`, cause);
  } finally {
    closeSync(descriptor);
  }
}

function openSocket(runDir: string, asked: RunSocket): number {
  let descriptor: number;
  try {
    descriptor = openSync(join(runDir, asked.name), O_PATH | constants.O_NOFOLLOW);
  } catch (cause) {
    throw unreachable(asked, `its folder has no socket of a ${asked.of}`, cause);
  }
  const status = fstatSync(descriptor);
  const owner = ownerOfFolder(runDir);
  // A hard link can name another user's socket. A run without a user of its own may be a container of another user.
  const isOwn = owner === null || status.uid === owner.uid;
  if (status.isSocket() && status.nlink === 1 && isOwn) return descriptor;
  closeSync(descriptor);
  const why = `what its folder has in place of its ${asked.of}'s socket is something else`;
  throw unreachable(asked, why, null);
}

function connected(path: string, allowHalfOpen: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function unreachable({ code, what }: RunSocket, why: string, cause: unknown): Fault {
  return new Fault(code, `${what}: ${why}`, { retry: "later", cause });
}
