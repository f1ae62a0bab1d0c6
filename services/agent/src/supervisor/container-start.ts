/**
 * Makes and starts a run's container, with an engine that fails now and then: its answer may be lost, or be a 500,
 * before or after it did what was asked. What may pass is tried again with growing waits. A repeat is safe: the
 * container's name is the run's own, so a second one is refused and the first is found, and a container is only started
 * again while the engine says that it never was.
 */
import type Docker from "dockerode";
import { Backoff, type Clock, pause } from "@trainyard/kernel";
import { identityOf, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import type { ContainerBody } from "../core/container-body.ts";
import { limits } from "../limits.ts";
import { bounded, problemOf, statusOf } from "../runtime/engine.ts";
import { HostProblem, LackProblem, LaunchProblem } from "../runtime/runtime.ts";
import type { ContainerOrder } from "./container-leader.ts";

/**
 * PID 1 of the container, by its number on this host; null where it has ended already. `hasBegun` says whether anything
 * of the run was seen. Throws LaunchProblem where the configuration is the reason, HostProblem where the engine does
 * not answer, else what it said; the container may then be there, and may run.
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

/** An engine that does not answer, or says that it failed; not one that names the configuration as the reason. */
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
    // The attempt before has made it.
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
/** The engines' name of a container that was never started. */
const neverStarted: readonly unknown[] = ["created", "configured", "initialized"];

async function start(
  container: Docker.Container,
  isRepeat: boolean,
  hasBegun: () => boolean,
): Promise<void> {
  if (isRepeat) {
    const { State } = await container.inspect({ abortSignal: bounded() });
    if (State.Running || hasBegun()) return;
    // It has ended, and whether the entrypoint was called is not known: it is not called a second time.
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

/** An engine may say for a moment that a container runs whose process has ended: Podman cleans up after it first. */
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

/** Podman's message with the status 500 about a container that no host makes. */
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

/** Why the shell of a container did not start, as far as its body says. */
export function withoutShell({ Image: image, Env }: ContainerBody): string {
  const long = Env.find((variable) => Buffer.byteLength(variable) >= variableBytesMax);
  if (long !== undefined) {
    const name = long.slice(0, long.indexOf("="));
    return `nothing of the run started in its container: its environment variable ${name} is longer than 128 KiB, which Linux does not take`;
  }
  return `nothing of the run started in its container: the image ${image} has no sh that runs on this host`;
}
