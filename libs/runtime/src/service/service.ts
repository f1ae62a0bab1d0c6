/**
 * A service's lifecycle: starting → ready → draining → stopped. `runMain` is all of a main.ts: it reads the
 * environment, starts the service, and on SIGTERM or SIGINT drains it within a limit; a second signal exits at once.
 * The process exits when its event loop is empty, or at the latest by an unreferenced timer. After a failed start it
 * exits with the reason on stderr.
 */
import { runtimeLimits } from "../limits.ts";
import { exitCodeOf, reasonOf } from "./failed-start.ts";

export interface Service extends AsyncDisposable {
  readonly name: string;
  /** Resolves when the service is ready. */
  start(): Promise<void>;
  /** Returns null when ready, otherwise the reason. */
  readiness(): string | null;
}

export async function runMain(create: () => Promise<Service> | Service): Promise<void> {
  const service = await orExit(create);
  const stopping = new AbortController();
  let signals = 0;
  const onSignal = (): void => {
    signals += 1;
    if (signals > 1) process.exit(130);
    stopping.abort();
  };
  process.on("SIGTERM", onSignal);
  process.on("SIGINT", onSignal);
  const stopped = new Promise<void>((resolve) => {
    // The signal listener does not keep the process running; a service's sockets and timers do.
    stopping.signal.addEventListener("abort", () => resolve(), { once: true });
  });
  // A start may wait for the database; disposing of the service ends the wait.
  await orExit(() => Promise.race([service.start(), stopped]));
  await stopped;
  setTimeout(() => process.exit(1), runtimeLimits.drainMs).unref();
  await service[Symbol.asyncDispose]();
  process.off("SIGTERM", onSignal);
  process.off("SIGINT", onSignal);
}

/** Takes one step of the start; if it fails, the process exits with the reason. */
async function orExit<Result>(step: () => Promise<Result> | Result): Promise<Result> {
  try {
    return await step();
  } catch (error) {
    process.stderr.write(`cannot start: ${reasonOf(error)}\n`);
    return process.exit(exitCodeOf(error));
  }
}
