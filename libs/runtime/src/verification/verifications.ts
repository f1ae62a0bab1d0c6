/**
 * Runs the checks of a service on request, however long they take. A caller names a verification and repeats its
 * request until it is complete. The first request starts it; each answer comes within a second with the findings so
 * far; without requests the verification is cancelled. Verifications run one after the other, because each folds the
 * whole log.
 */
import type { Plain } from "@trainyard/contracts";
import type { ViewVerdict } from "@trainyard/contracts/commands";
import type { ViewsVerified } from "@trainyard/contracts/commands";
import { type Clock, isFault, pause } from "@trainyard/kernel";
import type { Check } from "./check.ts";
import type { CommandTable } from "../commands/commands.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";

type Running = {
  readonly verdicts: Plain<ViewVerdict>[];
  readonly stop: AbortController;
  readonly over: Promise<void>;
  done: boolean;
  forgetting: Disposable;
};

export class Verifications implements AsyncDisposable {
  readonly #checks: readonly Check[];
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #known = new Map<string, Running>();
  #last: Promise<void> = Promise.resolve();

  constructor(checks: readonly Check[], clock: Clock, logger: Logger) {
    this.#checks = checks;
    this.#clock = clock;
    this.#logger = logger;
  }

  /** Returns the state of a verification, after a bounded wait if it is not complete. */
  async step(id: string): Promise<Plain<ViewsVerified>> {
    const running = this.#known.get(id) ?? this.#start(id);
    running.forgetting[Symbol.dispose]();
    const waited = new AbortController();
    await Promise.race([
      running.over,
      pause(this.#clock, runtimeLimits.verifyStepMs, waited.signal),
    ]);
    waited.abort();
    running.forgetting[Symbol.dispose]();
    running.forgetting = this.#forgetLater(id, running.stop);
    return { done: running.done, views: [...running.verdicts] };
  }

  #start(id: string): Running {
    for (const [oldest, { stop, forgetting }] of this.#known) {
      if (this.#known.size < runtimeLimits.verificationsKept) break;
      forgetting[Symbol.dispose]();
      stop.abort();
      this.#known.delete(oldest);
    }
    const stop = new AbortController();
    const verdicts: Plain<ViewVerdict>[] = [];
    const over = this.#last.then(async () => {
      for await (const verdict of runChecks(this.#checks, stop.signal, this.#logger)) {
        verdicts.push(verdict);
      }
      running.done = !stop.signal.aborted;
    });
    const forgetting = this.#forgetLater(id, stop);
    const running: Running = { verdicts, stop, over, forgetting, done: false };
    this.#last = over;
    this.#known.set(id, running);
    return running;
  }

  /** A later request starts a cancelled verification again. */
  #forgetLater(id: string, stop: AbortController): Disposable {
    return this.#clock.timer(runtimeLimits.verifyForgottenMs, () => {
      stop.abort();
      this.#known.delete(id);
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { stop, forgetting } of this.#known.values()) {
      forgetting[Symbol.dispose]();
      stop.abort();
    }
    await this.#last;
  }
}

/** Runs the checks one after the other. A check that cannot run is reported as unverified, with the reason. */
export async function* runChecks(
  checks: readonly Check[],
  signal: AbortSignal,
  logger: Logger,
): AsyncGenerator<Plain<ViewVerdict>> {
  for (const check of checks) {
    if (signal.aborted) return;
    try {
      const { position, finding } = await check.run(signal);
      if (finding !== "") logger.error({ view: check.name, position, finding }, "view_differs");
      yield { view: check.name, position, finding, unverified: false };
    } catch (error) {
      logger.warn({ err: error, view: check.name }, "view_not_verified");
      const finding = isFault(error)
        ? error.message
        : "the service failed; its log has the details";
      yield { view: check.name, position: 0, finding, unverified: true };
    }
  }
}

/** The command VerifyViews, which every service with a partition answers. */
export function verifyCommand(verifications: Verifications): CommandTable<"common">["VerifyViews"] {
  return ({ verification }) => verifications.step(verification);
}
