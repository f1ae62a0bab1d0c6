/**
 * Makes and starts a run's container with an unreliable engine: its answer may be lost, or be a 500, before or after it
 * carried out the request. Temporary failures are retried with growing waits. A retry is safe: the container's name is
 * unique to the run, so a second container is refused and the first is found, and a container is started again only
 * while the engine reports that it was never started.
 */
import type Docker from "dockerode";
import { Backoff, type Clock, pause } from "@trainyard/kernel";
import { identityOf, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import type { ContainerBody } from "../core/container-body.ts";
import { limits } from "../limits.ts";
import { bounded, problemOf, statusOf } from "../runtime/engine.ts";
import { HostProblem, LackProblem, LaunchProblem } from "../runtime/runtime.ts";
import type { ContainerOrder } from "../runtime/start-order.ts";

/**
 * PID 1 of the container, by its number on this host; null if it has ended already. `hasBegun` tells whether the run
 * has written anything. Throws LaunchProblem if the configuration is the cause, HostProblem if the engine does not
 * answer, else the engine's message; the container may then exist, and even run.
 */
export async function startedInit(
  engine: Docker,
  order: ContainerOrder,
  hasBegun: () => boolean,
  clock: Clock,
): Promise<ProcessIdentity | null> {
  const container = engine.getContainer(order.name);
  try {
    await patiently(clock, (isRepeat) => make(engine, order, isRepeat));
    await patiently(clock, (isRepeat) => start(container, isRepeat, hasBegun));
    return await patiently(clock, () => initOf(container, clock));
  } catch (error) {
    throw startProblem(error, order);
  }
}

async function patiently<T>(clock: Clock, attempt: (isRepeat: boolean) => Promise<T>): Promise<T> {
  const waits = new Backoff(limits.engineRetry, clock, new AbortController().signal);
  const untilMs = clock.monotonicMs() + limits.engineAwayMs;
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await attempt(attempts > 1);
    } catch (error) {
      const isEnough = attempts >= limits.engineAttemptsMax || clock.monotonicMs() > untilMs;
      if (isEnough || !mayPass(error)) throw error;
      await waits.wait();
    }
  }
}

/** True if the engine does not answer or reports a failure of its own; false if it blames the configuration. */
function mayPass(error: unknown): boolean {
  if (error instanceof HostProblem) return false;
  const said = problemOf(error, "");
  if (portTaken.test(said)) return false;
  return (statusOf(error) ?? 500) >= 500 && !ofConfiguration.test(said) && !hasNoShell.test(said);
}

async function make(engine: Docker, order: ContainerOrder, isRepeat: boolean): Promise<void> {
  try {
    await create(engine, order);
  } catch (error) {
    // The previous attempt has made the container.
    if (!isRepeat || statusOf(error) !== nameInUse) throw error;
  }
}

async function create(engine: Docker, { name, body, libpod }: ContainerOrder): Promise<void> {
  if (libpod === undefined) {
    const options = { name, ...body } as unknown as Docker.ContainerCreateOptions;
    await engine.createContainer({ ...options, abortSignal: bounded() });
    return;
  }
  const { promise, resolve, reject } = Promise.withResolvers<unknown>();
  const request = {
    path: "/v4.0.0/libpod/containers/create",
    method: "POST",
    options: libpod,
    abortSignal: bounded(),
    statusCodes: { 201: true, 404: "no such image", 500: "server error" },
  };
  engine.modem.dial(request, (error: unknown, made: unknown) => {
    if (error === null || error === undefined) resolve(made);
    else reject(error as Error);
  });
  await promise;
}

const nameInUse = 409;
const alreadyStarted = 304;
/** The states that engines report for a container that was never started. */
const neverStarted: readonly unknown[] = ["created", "configured", "initialized"];

async function start(
  container: Docker.Container,
  isRepeat: boolean,
  hasBegun: () => boolean,
): Promise<void> {
  if (isRepeat) {
    const { State } = await container.inspect({ abortSignal: bounded() });
    if (State.Running || hasBegun()) return;
    // The container has ended, and may have called the entrypoint, which must not be called twice.
    if (!neverStarted.includes(State.Status)) {
      throw new HostProblem(
        `the container engine failed to start the container, which then was ${State.Status}`,
      );
    }
  }
  try {
    await container.start({ abortSignal: bounded() });
  } catch (error) {
    if (statusOf(error) !== alreadyStarted) throw error;
  }
}

/** An engine may briefly report a container as running after its process ended: Podman cleans up first. */
async function initOf(container: Docker.Container, clock: Clock): Promise<ProcessIdentity | null> {
  const untilMs = clock.monotonicMs() + limits.endUnsaidMs;
  for (;;) {
    const { State } = await container.inspect({ abortSignal: bounded() });
    if (State.Pid === 0) return null;
    const identity = identityOf(State.Pid);
    if (identity !== null || !State.Running) return identity;
    if (clock.monotonicMs() > untilMs) {
      throw new HostProblem(
        `the engine says that process ${State.Pid} is the container's, and there is none: does the agent run in the host's namespace of processes?`,
      );
    }
    await pause(clock, limits.goneLookMs);
  }
}

/** Podman's message with status 500 about a configuration that no host can run. */
const ofConfiguration = /(invalid|unknown|unsupported) cap(ability|add|drop)|duplicate mount/i;
const hasNoShell =
  /argument list too long|["'`]?sh["'`]?:? (executable file )?not found|exec: "sh"|executable file `sh`/;
const portTaken = /port is already allocated|address already in use/i;
/** Statuses for an invalid body and a missing image. 409, a name in use, is handled by the agent. */
const refusals: readonly number[] = [400, 404];

function startProblem(error: unknown, { socket, body }: ContainerOrder): Error {
  if (error instanceof HostProblem) return error;
  const why = problemOf(error, socket);
  const options = { cause: error };
  if (portTaken.test(why)) {
    return new LackProblem(
      `a port of environment.proxy_ports is taken on this host: ${why}`,
      options,
    );
  }
  if (hasNoShell.test(why)) return new LaunchProblem(withoutShell(body), options);
  if (statusOf(error) === null) return new HostProblem(why, options);
  const text = `the container engine refused: ${why}`;
  const isRefused = refusals.includes(statusOf(error) ?? 0) || ofConfiguration.test(why);
  return isRefused ? new LaunchProblem(text, options) : new Error(text, options);
}

/** The kernel starts no program with a variable of this many bytes. */
const variableBytesMax = 128 * 1024;

/** The reason why the shell of a container did not start, as far as its body shows it. */
export function withoutShell({ Image: image, Env }: ContainerBody): string {
  const long = Env.find((variable) => Buffer.byteLength(variable) >= variableBytesMax);
  if (long !== undefined) {
    const name = long.slice(0, long.indexOf("="));
    return `nothing of the run started in its container: its environment variable ${name} is longer than 128 KiB, which Linux does not take`;
  }
  return `nothing of the run started in its container: the image ${image} has no sh that runs on this host`;
}
