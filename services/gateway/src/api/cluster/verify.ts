/**
 * `yard log verify`. It walks the hash chain, and compares the log with an anchor that was kept elsewhere, because the
 * chain alone does not show that its end is missing. It reports how far the log's time is ahead of the clock. Then
 * everything that is folded from the log is rebuilt and compared: the gateway's read model here, and that of each other
 * service by that service. If a service does not answer, its part is unverified and the verification fails.
 */
import { randomUUID } from "node:crypto";
import type { Plain, ReplyOf, RequestOf } from "@trainyard/contracts";
import type { ViewsVerified, ViewVerdict } from "@trainyard/contracts/commands";
import type { LogAnchor } from "@trainyard/event-log";
import { pause } from "@trainyard/kernel";
import { services } from "@trainyard/kernel/services";
import { runChecks, viewCheck } from "@trainyard/runtime";
import type { Backend } from "../../backend.ts";
import { Problem } from "../../http/problem.ts";
import type { RequestContext, StreamItem } from "../../http/request-context.ts";
import { apiLimits } from "../limits.ts";

const verifyRetryMs = 500;
/**
 * The most by which the log's time may be ahead of the database's clock, as after a failover between synchronised
 * hosts.
 */
const logAheadMs = 1_000;

/** The other services that keep folds of the log; the gateway's own are checked here. */
export const foldingServices = services
  .filter(({ name, folds }) => folds && name !== "gateway")
  .map(({ name }) => name)
  .toSorted();

/** The most findings in the hash chain that are listed; the first one matters most. */
const findingsMax = 20;

type Progress = StreamItem<ReplyOf<"verifyLog">>;

const progress = (message: Partial<ReplyOf<"verifyLog">>): Progress => ({
  id: "",
  message: {
    check: "",
    checked: "",
    done: false,
    ok: true,
    finding: "",
    unverified: false,
    ...message,
  },
});

export async function* verifyLog(
  backend: Backend,
  { skipViews, anchor }: RequestOf<"verifyLog">,
  context: RequestContext,
): AsyncGenerator<Progress> {
  const { signal } = context;
  let findings = 0;
  const kept = anchor === undefined ? null : readAnchor(anchor);
  for await (const { position, detail } of backend.parts.log.verify(0)) {
    findings += 1;
    yield progress({ check: "chain", checked: String(position), ok: false, finding: detail });
    if (findings >= findingsMax || signal.aborted) break;
  }
  yield progress({
    check: "chain",
    checked: String(await backend.parts.log.head()),
    ok: findings === 0,
  });
  if (kept !== null) {
    const finding = await backend.parts.log.checkAnchor(kept);
    if (finding !== null) findings += 1;
    const checked = String(kept.position);
    yield progress({
      check: "anchor",
      checked,
      ok: finding === null,
      finding: finding?.detail ?? "",
    });
  }
  yield* timeAhead(backend);
  if (!skipViews) {
    for await (const { view, position, finding, unverified } of verifyViews(backend, context)) {
      const ok = finding === "" && !unverified;
      if (!ok) findings += 1;
      yield progress({ check: view, checked: String(position), ok, finding, unverified });
    }
  }
  yield progress({ check: "all", checked: backend.position, done: true, ok: findings === 0 });
}

function readAnchor({ position, hash }: { position: string; hash: string }): LogAnchor {
  if (/^\d{1,15}$/.test(position) && /^[0-9a-f]{64}$/.test(hash)) {
    return { position: Number(position), hash };
  }
  const detail = "an anchor must have a log position and a hash of 64 hexadecimal digits";
  throw new Problem(400, "invalid_request", detail);
}

/** Reports a log whose time is ahead of the clock. It is not a failure of the log, but affects readers of times. */
async function* timeAhead(backend: Backend): AsyncGenerator<Progress> {
  const { log } = backend.parts;
  const aheadMs = await log.timeAheadMs();
  if (aheadMs < logAheadMs) return;
  const seconds = Math.round(aheadMs / 1_000);
  const finding = `the newest event's time is ${seconds} s ahead of the database's clock: events carry that time until the clock has caught up; set the clock`;
  yield progress({ check: "time", checked: String(await log.head()), finding });
}

async function* verifyViews(
  backend: Backend,
  context: RequestContext,
): AsyncGenerator<Plain<ViewVerdict>> {
  const { view, log, logger } = backend.parts;
  // All services are asked at once, so that a slow one does not delay the others. The results are reported in order.
  const asked = foldingServices.map((service) => verifyService(backend, service, context));
  yield* runChecks([viewCheck("gateway", view, log)], context.signal, logger);
  for (const verdicts of asked) yield* await verdicts;
}

/** Repeats the request until the service is done: a verification takes as long as folding the log. */
async function verifyService(
  backend: Backend,
  service: string,
  context: RequestContext,
): Promise<readonly Plain<ViewVerdict>[]> {
  const verification = randomUUID();
  try {
    for (;;) {
      const { done, views } = await ask(backend, service, verification, context);
      if (done) return views;
      if (context.signal.aborted) return [];
    }
  } catch (error) {
    backend.parts.logger.warn({ err: error, service }, "service_not_verified");
    const away = error instanceof Problem && error.status === 503;
    const finding = away
      ? `the ${service} service does not answer: start it, then verify again`
      : `the ${service} service could not verify: ${error instanceof Error ? error.message : "its log says why"}`;
    return [{ view: service, position: 0, finding, unverified: true }];
  }
}

/** Returns the answer of a service; repeats the request while the service starts or hands over. */
async function ask(
  backend: Backend,
  service: string,
  verification: string,
  context: RequestContext,
): Promise<Plain<ViewsVerified>> {
  const { clock } = backend.parts;
  const untilMs = clock.monotonicMs() + apiLimits.verifyPatienceMs;
  for (;;) {
    try {
      return await backend.commonCommand(service, "VerifyViews", { verification }, context);
    } catch (error) {
      const away = error instanceof Problem && error.status === 503;
      const over = clock.monotonicMs() >= untilMs || context.signal.aborted;
      if (!away || over) throw error;
      await pause(clock, verifyRetryMs, context.signal);
    }
  }
}
