/**
 * Starts a run's first process so that all processes of the run can be found and ended, on hosts where no Python forks
 * supervisors: in a cgroup of its own, else found by /proc alone (see run-group.ts). The mechanism is recorded before
 * the run starts.
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { basename, join } from "node:path";
import { createInterface } from "node:readline";
import type { Duplex, Readable } from "node:stream";
import type { Command } from "../runtime/start-order.ts";
import { python } from "./python.ts";
import { createCgroup, within } from "../state/cgroup.ts";
import { identityOfChild, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import type { GroupRecord, ProcessMechanism } from "../state/run-group.ts";

export type LeaderEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  /** The known reason, as a sentence. */
  readonly cause?: string;
};

/** A run whose end nobody observed, or whose image cannot start, with the reason as a sentence. */
export type Lost = { readonly lost: string; readonly neverStarted?: boolean };

export type Leader = {
  readonly identity: ProcessIdentity | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly end: Promise<LeaderEnd | Lost>;
};

/** The command could not be started, for a reason in the command itself. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** The mechanism is not available on this host; the command is not the cause. */
class NotHere extends Error {
  override readonly name = "NotHere";
}

/** A Python that starts reports this in a fraction of a second, even on a busy host. */
const parentReadyMs = 10_000;
/** The user's Python settings are ignored, so the start takes a few hundredths of a second. */
const parentArguments = ["-I", "-S", "-E", join(import.meta.dirname, "parent.py")];
/** The longest name of a cgroup: file names may be longer, but this is enough to recognise the run. */
const nameCharsMax = 100;

/**
 * `record` is called before the command is started. Throws StartFailure, or the reason why the configured mechanism is
 * not available.
 */
export async function startLeader(
  command: Command,
  asked: ProcessMechanism | "auto",
  folder: string,
  record: (group: GroupRecord) => void,
): Promise<Leader> {
  if (asked === "parent")
    throw new NotHere("a supervisor that starter.py forks has a parent, this one has none");
  if (asked !== "scan") {
    try {
      return await inCgroup(command, folder, record);
    } catch (error) {
      if (!(error instanceof NotHere) || asked !== "auto") throw error;
      // Logged in the supervisor's log, to explain why a scan is used, which finds fewer processes.
      process.stderr.write(`cgroup: ${error.message}\n`);
    }
  }
  record({ mechanism: "scan" });
  return await childOf(command, () => spawnLeader(command));
}

async function inCgroup(
  command: Command,
  folder: string,
  record: (group: GroupRecord) => void,
): Promise<Leader> {
  const digest = createHash("sha256").update(folder).digest("hex").slice(0, 16);
  const name = `trainyard-${basename(folder).slice(0, nameCharsMax)}-${digest}`;
  const leaf = orNotHere(() => {
    const made = createCgroup(name);
    // Moves into the cgroup and back once, before anything depends on it.
    within(made, () => {});
    return made;
  });
  record({ mechanism: "cgroup", path: leaf.path });
  return await childOf(command, () => within(leaf, () => spawnLeader(command)));
}

function orNotHere<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new NotHere(error instanceof Error ? error.message : String(error));
  }
}

/**
 * Starts the leader. A leader with another user becomes the command only after it gets its order: no process of the
 * supervisor's user runs any part of the run.
 */
function spawnLeader({ argv, environment, work, user }: Command): ChildProcess {
  if (user !== undefined) {
    return spawn(python(), [...parentArguments, "become"], {
      detached: true,
      stdio: ["ignore", "pipe", "pipe", "pipe"],
    });
  }
  return spawn(argv[0] ?? "", argv.slice(1), {
    cwd: work,
    env: { ...environment },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function childOf(command: Command, start: () => ChildProcess): Promise<Leader> {
  let child: ChildProcess;
  try {
    child = start();
  } catch (error) {
    // An error that does not concern the file is thrown at once: too long arguments, an empty name.
    throw failureOf(error as NodeJS.ErrnoException);
  }
  const end = new Promise<LeaderEnd>((resolve, reject) => {
    child.once("error", (error) => reject(failureOf(error)));
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  if (child.pid === undefined) await end;
  const { stdout, stderr } = child;
  if (child.pid === undefined || stdout === null || stderr === null) {
    throw new StartFailure("", "it has no process");
  }
  if (command.user !== undefined) await becomes(child, command);
  return { identity: identityOfChild(child.pid), stdout, stderr, end };
}

/** Resolves once the child has become the command; throws the reason if it cannot. */
async function becomes(child: ChildProcess, command: Command): Promise<void> {
  const control = child.stdio[3] as Duplex;
  const said = linesOf(control);
  control.write(`${JSON.stringify(command)}\n`);
  const failure = await said.next();
  if (failure !== null) throw new StartFailure(failure.error ?? "", failure.message ?? "");
}

function failureOf({ code, message }: NodeJS.ErrnoException): StartFailure {
  return new StartFailure(code ?? "", message);
}

type Said = {
  readonly error?: string;
  readonly message?: string;
};

/** The reason why a process cannot adopt others on this host; null when it can. */
export function parentProblem(): string | null {
  // Without an order, the program reports that it is ready, and ends.
  const { error, stdout, stderr, output } = spawnSync(python(), parentArguments, {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    timeout: parentReadyMs,
    encoding: "utf8",
  });
  if (error !== undefined) return error.message;
  if (output[3]?.startsWith('{"ready": true}') === true) return null;
  return output[3] || stderr || stdout || "it said nothing";
}

/** The parent's messages, one per line; null after the last one. */
function linesOf(stream: Readable): { next(): Promise<Said | null> } {
  stream.on("error", () => {});
  const lines = createInterface({ input: stream })[Symbol.asyncIterator]();
  return {
    async next() {
      const { done, value } = await lines.next();
      return done === true ? null : (JSON.parse(value) as Said);
    },
  };
}
