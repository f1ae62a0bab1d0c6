/**
 * Starts a run's container and waits for its end. Its output comes through two named pipes of the run's folder, of
 * which the supervisor holds the reading ends; the engine is asked for three things only: to make the container, to
 * start it, and how it ended. While the engine is away, or restarted, the container runs and its lines are read; its
 * end is then seen by its process, and the engine has a minute to come back and say the code.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { constants as system } from "node:os";
import type Docker from "dockerode";
import { type Clock, pause } from "@trainyard/kernel";
import { isAlive, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import { type ContainerBody, pipeNames } from "../core/container-body.ts";
import type { LibpodBody } from "../core/libpod-body.ts";
import { limits } from "../limits.ts";
import { bounded, engineAt, isGone, problemOf } from "../runtime/engine.ts";
import type { ContainerRecord } from "../state/container-group.ts";
import { startedInit, withoutShell } from "./container-start.ts";
import type { Leader, LeaderEnd, Lost } from "./leader.ts";
import { MemoryWatch } from "./memory-watch.ts";

export type ContainerOrder = {
  readonly socket: string;
  readonly name: string;
  /** The folder of the pipes, in the run's folder. */
  readonly pipes: string;
  readonly body: ContainerBody;
  /** The same in the words of Podman's own API, where it is needed. */
  readonly libpod?: LibpodBody;
};

/** An engine gives a process that a signal has ended the code 128 + its number. */
const signalled = 128;

export async function startContainer(
  order: ContainerOrder,
  clock: Clock,
  record: (group: ContainerRecord) => void,
): Promise<Leader> {
  const { socket, name, pipes, body } = order;
  const out = openPipe(pipes, pipeNames.stdout);
  const err = openPipe(pipes, pipeNames.stderr);
  const engine = engineAt(socket);
  record({ mechanism: "container", socket, name });
  const container = engine.getContainer(name);
  const hasOutput = (): boolean => [out, err].some(({ stream }) => stream.bytesRead > 0);
  const hasBegun = (): boolean => hasOutput() || existsSync(join(pipes, pipeNames.started));
  try {
    const identity = await startedInit(engine, order, hasBegun, clock);
    const memory = identity === null ? null : new MemoryWatch(identity.pid, body.HostConfig.Memory);
    const end = endOf({ container, identity, clock }, order, memory, hasBegun);
    const close = (): void => [out, err].forEach(({ release }) => release());
    void end.finally(close);
    return { identity, stdout: out.stream, stderr: err.stream, end };
  } catch (error) {
    // It may have been made, and may even run: the caller ends and removes it.
    for (const { stream, release } of [out, err]) {
      release();
      stream.destroy();
    }
    throw error;
  }
}

type Running = {
  readonly container: Docker.Container;
  /** PID 1 of the container; null where it had ended before it could be seen. */
  readonly identity: ProcessIdentity | null;
  readonly clock: Clock;
};

async function endOf(
  running: Running,
  { socket, body }: ContainerOrder,
  memory: MemoryWatch | null,
  hasBegun: () => boolean,
): Promise<LeaderEnd | Lost> {
  try {
    const code = await codeOf(running, socket);
    if (typeof code !== "number") return code;
    // An init that cannot start the shell ends like any program. The run may remove the mark, but not what it has
    // written.
    if (code > 0 && code < signalled && !hasBegun()) {
      return { lost: withoutShell(body), neverStarted: true };
    }
    const cause = memory?.verdict() ?? "";
    const name = code > signalled ? signalName(code - signalled) : null;
    return name === null ? { code, signal: null, cause } : { code: null, signal: name, cause };
  } finally {
    memory?.[Symbol.dispose]();
  }
}

async function codeOf(running: Running, socket: string): Promise<number | Lost> {
  const { container, identity, clock } = running;
  if (identity !== null) await overOrGone(running, identity);
  let deadlineMs = clock.monotonicMs() + limits.engineAwayMs;
  let problem = "";
  while (clock.monotonicMs() < deadlineMs) {
    // However the engine took it: what lives is not over.
    if (identity !== null && isAlive(identity))
      deadlineMs = clock.monotonicMs() + limits.engineAwayMs;
    try {
      const { State } = await container.inspect({ abortSignal: bounded(limits.engineAwayMs) });
      if (!State.Running) return State.ExitCode;
      problem = "the container engine says that it runs";
    } catch (error) {
      if (isGone(error)) return { lost: "its container was removed: how it ended is not known" };
      problem = problemOf(error, socket);
    }
    await pause(clock, limits.goneLookMs);
  }
  return { lost: `it ended, and ${problem}: how it ended is not known` };
}

/**
 * The engine says at once that a container has ended. But it may go away without a word, and its answer has begun by
 * then (the headers come first), so the process is looked at too.
 */
async function overOrGone({ container, clock }: Running, init: ProcessIdentity): Promise<void> {
  const over = new AbortController();
  const { promise: said, resolve } = Promise.withResolvers<void>();
  container.wait({ abortSignal: over.signal }).then(
    () => resolve(),
    () => {},
  );
  const looking = async (): Promise<void> => {
    while (isAlive(init) && !over.signal.aborted) await pause(clock, limits.goneLookMs);
  };
  await Promise.race([said, looking()]);
  over.abort();
}

function signalName(number: number): string | null {
  const found = Object.entries(system.signals).find(([, value]) => value === number);
  return found?.[0] ?? null;
}

type Pipe = { readonly stream: Socket; readonly release: () => void };

/**
 * The reading end of a named pipe. Until its release another end of ours keeps it from ending, since a reader sees the
 * end of a pipe that nobody has open for writing, which is so before the container opens it.
 */
function openPipe(folder: string, name: string): Pipe {
  mkdirSync(folder, { recursive: true });
  // The container may have any user: nobody else gets here through the run's folder.
  chmodSync(folder, 0o777);
  const path = join(folder, name);
  if (!existsSync(path)) {
    const { status, stderr, error } = spawnSync("mkfifo", ["-m", "666", path], {
      encoding: "utf8",
    });
    if (status !== 0) throw new Error(`mkfifo ${path}: ${error?.message ?? stderr.trim()}`);
  }
  const kept = openSync(path, constants.O_RDWR | constants.O_NONBLOCK);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const stream = new Socket({ fd, readable: true, writable: false });
  stream.on("error", () => {});
  let isHeld = true;
  const release = (): void => {
    if (isHeld) closeSync(kept);
    isHeld = false;
  };
  return { stream, release };
}
