import type { ReplyOf, RequestOf } from "@trainyard/contracts";
import { StopWhy } from "@trainyard/contracts/events";
import { parseRunId, pause } from "@trainyard/kernel";
import type { Backend } from "../../backend.ts";
import type { Caller } from "../../http/caller.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, UnaryHandlers } from "../../http/request-context.ts";
import type { PositionSignal } from "../../live/position-signal.ts";
import { recordEnvironment } from "../../spaces/environments.ts";
import { stopOfAllocation, stops } from "../../streams.ts";
import { apiLimits } from "../limits.ts";

const whyNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(StopWhy).map(([name, number]) => [number, name.toLowerCase()]),
);

/** Throws a Problem if a run's token is used for another run. */
export function requireOwnRun(caller: Caller, run: string): void {
  if (caller.kind !== "run" || caller.allocation === run) return;
  throw new Problem(
    403,
    "not_your_run",
    `this token is the run ${caller.allocation}'s, not ${run}'s`,
  );
}

export function runHandlers(backend: Backend, moved: PositionSignal) {
  return {
    getSignals: async (request, context) => {
      requireOwnRun(context.caller, request.run);
      const run = parseRunId(request.run);
      if (run === null) throw new Problem(404, "run_not_found", `there is no run ${request.run}`);
      // The signals are folded from the log, not from the read model: a run receives a stop even while the read model
      // is behind or is rebuilt.
      if (context.caller.kind === "run") await backend.hear(context.caller.grantPosition);
      return waitForSignal(backend, moved, { ...run, id: request.run }, request.waitMs, context);
    },
    recordEnvironment: async (request, context) => {
      if (context.caller.kind !== "run") {
        throw new Problem(403, "not_your_run", "only a run tells its environment, with its token");
      }
      requireOwnRun(context.caller, request.run);
      const run = parseRunId(request.run);
      if (run === null) throw new Problem(404, "run_not_found", `there is no run ${request.run}`);
      refuseLarge(request);
      const position = await recordEnvironment(backend, run.experiment, request, context);
      return { position: String(position) };
    },
  } satisfies Partial<UnaryHandlers>;
}

function refuseLarge({ python, packages }: RequestOf<"recordEnvironment">): void {
  const { packagesMax, packageTextCharactersMax: most } = apiLimits;
  const entries = Object.entries(packages);
  const isLong = [python, ...entries.flat()].some(({ length }) => length > most);
  if (entries.length <= packagesMax && !isLong) return;
  const detail = `there may be ${packagesMax} packages, whose names and versions have at most ${most} characters`;
  throw new Problem(400, "invalid_request", detail);
}

async function waitForSignal(
  backend: Backend,
  moved: PositionSignal,
  run: { readonly id: string; readonly trial: string; readonly run: number },
  waitMs: number,
  context: RequestContext,
): Promise<ReplyOf<"getSignals">> {
  const { clock, executor } = backend.parts;
  const untilMs = clock.monotonicMs() + Math.min(waitMs, apiLimits.signalsWaitMsMax);
  for (;;) {
    const changes = [moved.next(`trial-${run.trial}`), moved.next(`allocation-${run.id}`)];
    const [trial, allocation] = await Promise.all([
      executor.cache.load(stops, run.trial),
      executor.cache.load(stopOfAllocation, run.id),
    ]);
    if (trial.state.lastRun > run.run) return { stop: true, why: "superseded" };
    const why = trial.state.whyOfRun[run.run] ?? allocation.state;
    if (why !== null) return { stop: true, why: whyNames[why] ?? "" };
    const leftMs = untilMs - clock.monotonicMs();
    if (leftMs <= 0 || context.signal.aborted) return { stop: false, why: "" };
    await pause(clock, leftMs, AbortSignal.any([...changes, context.signal]));
  }
}
