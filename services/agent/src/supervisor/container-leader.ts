/**
 * Starts a run's container and waits for its end. Its output comes through two named pipes of the run's folder, whose
 * reading ends the supervisor holds. The engine is needed only to make the container, to start it, and to report its
 * end. While the engine is down, the container runs and its lines are read. Its end is then detected by its process,
 * and the engine has a minute to come back and report the code.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, closeSync, constants, existsSync, mkdirSync, openSync } from "node:fs";
import { Socket } from "node:net";
import { join } from "node:path";
import { constants as system } from "node:os";
import type { Readable } from "node:stream";
import type Docker from "dockerode";
import { type Clock, pause } from "@trainyard/kernel";
import { isAlive, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import { pipeNames } from "../core/container-body.ts";
import { limits } from "../limits.ts";
import { bounded, engineAt, isGone, problemOf } from "../runtime/engine.ts";
import type { ContainerOrder } from "../runtime/start-order.ts";
import { startedInit, withoutShell } from "./container-start.ts";
import { MemoryWatch } from "./memory-watch.ts";

export type LeaderEnd = {
  readonly code: number | null;
  readonly signal: string | null;
  /** The known reason, as a sentence. */
  readonly cause: string;
};

/** A run whose end nobody observed, or whose image cannot start, with the reason as a sentence. */
export type Lost = { readonly lost: string; readonly neverStarted?: boolean };

export type Leader = {
  readonly identity: ProcessIdentity | null;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly end: Promise<LeaderEnd | Lost>;
};

/** If a signal ends a process, the engine reports the code 128 + the signal's number. */
const signalled = 128;

export async function startContainer(order: ContainerOrder, clock: Clock): Promise<Leader> {
  const { socket, name, pipes, body } = order;
  const out = openPipe(pipes, pipeNames.stdout);
  const err = openPipe(pipes, pipeNames.stderr);
  const engine = engineAt(socket);
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
    // The container may exist and even run: the caller ends and removes it.
    for (const { stream, release } of [out, err]) {
      release();
      stream.destroy();
    }
    throw error;
  }
}

type Running = {
  readonly container: Docker.Container;
  /** PID 1 of the container; null if it had ended before its identity was read. */
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
    // An init that cannot start the shell looks like a program that failed. The run may remove its mark, but not its
    // lines.
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
    // A living process means that the run is not over, whatever the engine answered.
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
 * Waits for the end. The engine normally reports it at once. But the engine may go down silently after its answer has
 * begun (the headers come first), so the process is checked too.
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
 * The reading end of a named pipe. A reader sees the end of a pipe without a writer, as before the container opens it.
 * So this process holds a writing end until the release.
 */
function openPipe(folder: string, name: string): Pipe {
  mkdirSync(folder, { recursive: true });
  // The container may have any user; other users cannot get through the run's folder.
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
