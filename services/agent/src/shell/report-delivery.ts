/**
 * Delivers the metric reports that an ended process left in its spool, by the rules of the SDK's README ("The run's
 * folder"): from the acknowledged offset, in file order, moving it only after an answer. Sending a line twice is
 * harmless. The SDK's sender passes the same cases (libs/sdk-python/tests/report-cases.json).
 */
import { closeSync, fstatSync, readSync } from "node:fs";
import type { Clock } from "@trainyard/kernel";
import type { Telemetry } from "../telemetry.ts";
import { limits } from "../limits.ts";
import { isDiskFull } from "../state/layout.ts";
import type { RunFolder } from "../state/run-folder.ts";
import { openRunFile, readRunFile, writeRunFile } from "../state/run-file.ts";
import { inRounds, pathOfRun, requestAsRun } from "./delivery.ts";

export type DeliveryDeps = {
  readonly folder: RunFolder;
  readonly metricsUrl: string;
  readonly events: Telemetry;
  readonly clock: Clock;
};

type Answer =
  | { readonly kind: "taken"; readonly refused: readonly unknown[] }
  | { readonly kind: "superseded" }
  | { readonly kind: "split" }
  | { readonly kind: "refused"; readonly status: number }
  | { readonly kind: "later"; readonly retryAfterMs: number; readonly why: string };

type Piece = { readonly lines: readonly string[]; readonly end: number };

/**
 * Resolves when no report is left, or when the metrics service refuses the rest; null when the signal aborts. A report
 * that a later run repeats is skipped: newer reports of machines may follow it, and count.
 */
export async function deliverReports(
  deps: DeliveryDeps,
  signal: AbortSignal,
): Promise<"delivered" | "refused" | null> {
  const { events, clock, folder } = deps;
  const { runDir, launch } = folder;
  let offset = acknowledged(runDir);
  let reportsMax: number = limits.reportsPerRequest;
  let whole = true;
  return inRounds(clock, signal, async (progressed) => {
    for (;;) {
      const piece = readPiece(runDir, offset, reportsMax);
      if (piece.end === offset) return whole ? "delivered" : "refused";
      const answer = piece.lines.length === 0 ? taken : await post(deps, piece.lines, signal);
      if (answer.kind === "later") {
        events.reportsWait(answer.why);
        return answer.retryAfterMs;
      }
      if (answer.kind === "refused") {
        events.reportsRefused(launch.allocation, answer.status);
        return "refused";
      }
      if (answer.kind === "split" && piece.lines.length > 1) {
        reportsMax = Math.max(1, Math.floor(piece.lines.length / 2));
        continue;
      }
      if (answer.kind === "split") events.reportRefused(launch.allocation, offset);
      // A report that is refused alone may be followed by others, so the next request is as small.
      else reportsMax = Math.min(reportsMax * 2, limits.reportsPerRequest);
      if (answer.kind === "taken") {
        const { refused } = answer;
        if (refused.length > 0) events.reportsInvalid(launch.allocation, refused);
        events.reportsDelivered(piece.lines.length - refused.length);
      } else if (answer.kind === "superseded" && whole) {
        events.reportsRefused(launch.allocation, supersededStatus);
        whole = false;
      }
      offset = piece.end;
      acknowledge(runDir, offset);
      progressed();
    }
  });
}

const acknowledgedName = "spool/reports.acked";
const taken: Answer = { kind: "taken", refused: [] };
/** The status of an answer when a later run has repeated some of the reports; the others were stored. */
const supersededStatus = 409;
/** The statuses of answers that refuse the run's token; with 410 the log has lost the run's history. */
const refusedStatuses: ReadonlySet<number> = new Set([401, 403, 410]);

async function post(
  { folder, metricsUrl }: DeliveryDeps,
  lines: readonly string[],
  signal: AbortSignal,
): Promise<Answer> {
  const url = `${metricsUrl}${pathOfRun(folder.launch)}/reports`;
  const body = `{"refuseAlone":true,"reports":[${lines.join(",")}]}`;
  const { traceparent } = folder.launch;
  const linked = traceparent === "" ? {} : { traceparent };
  const answer = await requestAsRun(folder.launch, url, body, signal, linked);
  const { status, text, retryAfterMs, why } = answer;
  // Proxies have limits for the size of requests, too.
  if (status === 413) return { kind: "split" };
  if (!answer.isOfPlatform) return { kind: "later", retryAfterMs, why };
  if (status >= 200 && status < 300) return { kind: "taken", refused: refusedIn(text) };
  if (status === 400 || status === 422) return { kind: "split" };
  if (status === supersededStatus) return { kind: "superseded" };
  if (refusedStatuses.has(status)) return { kind: "refused", status };
  return { kind: "later", retryAfterMs, why };
}

/** The reports that the service refused alone, and stored the others. */
function refusedIn(text: string): readonly unknown[] {
  try {
    const { refused } = JSON.parse(text) as { readonly refused?: unknown };
    return Array.isArray(refused) ? refused : [];
  } catch {
    return [];
  }
}

function acknowledged(runDir: string): number {
  const written = readRunFile(runDir, acknowledgedName, limits.acknowledgedBytesMax);
  // No report was acknowledged yet, or the run has no spool.
  if (!Buffer.isBuffer(written)) return 0;
  const text = written.toString("utf8").trim();
  return /^\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? Number(text) : 0;
}

/**
 * Records the acknowledged offset. On a full disk it is not recorded, and reports sent twice are recognised by their
 * keys.
 */
function acknowledge(runDir: string, offset: number): void {
  try {
    writeRunFile(runDir, acknowledgedName, String(offset));
  } catch (error) {
    if (!isDiskFull(error)) throw error;
  }
}

/** Reads complete lines; a torn last line is of a report whose call never returned. */
function readPiece(runDir: string, offset: number, reportsMax: number): Piece {
  const file = openRunFile(runDir, "spool/reports.ndjson");
  // The process has reported nothing, or never used the SDK.
  if (file === null) return { lines: [], end: offset };
  try {
    const size = Math.min(limits.reportBytesPerRequest, Math.max(0, fstatSync(file).size - offset));
    const chunk = Buffer.allocUnsafe(size);
    const read = readSync(file, chunk, 0, size, offset);
    return linesOf(chunk.subarray(0, read), offset, reportsMax);
  } finally {
    closeSync(file);
  }
}

function linesOf(chunk: Buffer, offset: number, reportsMax: number): Piece {
  const lines: string[] = [];
  let used = 0;
  while (lines.length < reportsMax) {
    const end = chunk.indexOf(10, used);
    if (end < 0) break;
    const line = reportIn(chunk.subarray(used, end));
    if (line !== null) lines.push(line);
    used = end + 1;
  }
  // No report is this long: the bytes are not the SDK's, and are skipped.
  if (used === 0 && chunk.length === limits.reportBytesPerRequest) used = chunk.length;
  return { lines, end: offset + used };
}

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** The text of a line; null for one that is no report. */
function reportIn(line: Buffer): string | null {
  try {
    const text = utf8.decode(line);
    const value: unknown = JSON.parse(text);
    return typeof (value as { key?: unknown } | null)?.key === "string" ? text : null;
  } catch {
    // A torn line that a later writer completed.
    return null;
  }
}
