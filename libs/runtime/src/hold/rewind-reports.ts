/**
 * Reports of a log that went back, to the registry, which records the hold on deletions. Every process that remembers a
 * lost event reports it, until the registry answers: the first report counts.
 */
import type { Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  type RecordRewind,
  RecordRewindSchema,
  type Rejected,
  RejectedSchema,
} from "@trainyard/contracts/commands";
import { newEventId } from "@trainyard/event-log";
import { type Clock, Fault, retrying } from "@trainyard/kernel";
import { type KnownEvent, LogRewound } from "../history/log-history.ts";
import { runtimeLimits } from "../limits.ts";
import type { Logger } from "../logging.ts";

const requests = codecOf<Plain<RecordRewind>>(RecordRewindSchema);
const rejections = codecOf<Plain<Rejected>>(RejectedSchema);

type ReportDeps = {
  /** The service that reports. */
  readonly name: string;
  readonly bus: Pick<Bus, "request">;
  readonly logger: Logger;
};

/** Reports a lost event once. Throws a Fault if the registry does not answer. */
export async function sendRewind(
  { name, bus, logger }: ReportDeps,
  { position, id }: KnownEvent,
): Promise<void> {
  const body = Buffer.from(requests.encode({ position, event: id, noticedBy: name }));
  const headers = {
    commitId: newEventId(),
    authid: name,
    traceparent: "",
    correlationid: "",
  };
  const deadlineMs = runtimeLimits.rewindReportMs;
  const reply = await bus.request("registry", "RecordRewind", { headers, body }, deadlineMs);
  if (reply.kind === "unavailable") {
    const told = `the log went back, and the registry cannot record it now: ${reply.detail}`;
    throw new Fault("rewind_unrecorded", told, { retry: "later" });
  }
  if (reply.kind === "rejected") {
    const { code, detail } = rejections.decode(Buffer.from(reply.body).toString());
    logger.info({ position, event: id, code, detail }, "rewind_not_recorded");
  }
}

export class RewindReports {
  readonly #deps: ReportDeps & { readonly clock: Clock };
  readonly #running = new Set<Promise<void>>();

  constructor(deps: ReportDeps & { readonly clock: Clock }) {
    this.#deps = deps;
  }

  /** Reports the lost event of a `LogRewound` until the registry answers or the signal aborts; ignores other errors. */
  noticed(error: unknown, signal: AbortSignal): void {
    if (!(error instanceof LogRewound)) return;
    const { clock, logger } = this.#deps;
    const failed = (fault: unknown, waitMs: number): void =>
      logger.warn({ err: fault, waitMs }, "rewind_report_retried");
    const retry = { policy: runtimeLimits.effectRetry, clock, signal, failed };
    const report = retrying(retry, () => sendRewind(this.#deps, error.known)).finally(() =>
      this.#running.delete(report),
    );
    this.#running.add(report);
  }

  /** Resolves when no report runs: at the latest after the signals have aborted. */
  async over(): Promise<void> {
    await Promise.all(this.#running);
  }
}
