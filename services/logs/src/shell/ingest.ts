/**
 * Stores an agent's batch: all lines in one commit, in order, each once. After the commit, followers are notified and
 * matches of log policies are recorded; then the agent gets its answer.
 *
 * A batch contains the tokens of its runs. All agents share the bus, and a forged line would take the sequence number
 * of the true one.
 */
import type { KeyObject } from "node:crypto";
import { type Bus, logSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type LinePage, LinePageSchema, type WriteLines } from "@trainyard/contracts/commands";
import { Fault, isFault, isRejection, type Rejection, reject } from "@trainyard/kernel";
import {
  Batches,
  type CommandTable,
  historyLost,
  type LogFollower,
  Problem,
  readRunToken,
  type RunGrants,
  type RunTokenContent,
} from "@trainyard/runtime";
import { type LineRow, parseBatch, unprovenRun } from "../core/batch.ts";
import { ownerOf } from "../core/owner.ts";
import type { Telemetry } from "../telemetry.ts";
import { logsLimits } from "../limits.ts";
import type { LineRuns } from "./line-runs.ts";
import { type LineTable, lineName, type StoredRow } from "./line-table.ts";
import type { LogPolicies } from "./policies.ts";
import { storedLine } from "./stored-line.ts";

const pages = codecOf<Plain<LinePage>>(LinePageSchema);
const encoder = new TextEncoder();

export type IngestDeps = {
  readonly table: LineTable;
  readonly runs: LineRuns;
  readonly grants: RunGrants;
  readonly follower: LogFollower;
  readonly policies: LogPolicies;
  readonly bus: Bus;
  readonly events: Telemetry;
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
};

export function writeCommands(deps: IngestDeps) {
  const { table, policies, bus, events, runTokenKeys } = deps;
  const insert = (rows: readonly LineRow[]) => table.insert(rows);
  const batches = new Batches(logsLimits, lineBytes, insert);
  return {
    WriteLines: async (batch) => {
      const rows = parseBatch(batch, logsLimits);
      if (isRejection(rows)) return rows;
      const proofs = batch.tokens.map((token) => readRunToken(runTokenKeys, token));
      const stranger = strangerIn(batch, proofs);
      if (stranger !== null) {
        events.unproven();
        if (isRejection(stranger)) return stranger;
        throw stranger;
      }
      if (rows.length > 0) {
        const lost = await ownRuns(deps, rows, proofs);
        if (lost !== null) return lost;
        const places = await batches.add(batch.agent, rows).catch(rejectedAsUnstorable);
        if (isRejection(places)) return places;
        const stored = rows.flatMap((row): StoredRow[] => {
          const place = places.get(lineName(row));
          return place === undefined ? [] : [{ ...row, ...place }];
        });
        events.taken(stored.length, rows.length - stored.length);
        publish(bus, stored);
        await knowWebhooks(deps, proofs);
        // Compares all lines, also those stored earlier: a resent batch may have died before its comparison.
        await policies.apply(batch.agent, rows);
      }
      // Lines are not in the log, so the answer has no position.
      return { position: 0, stream: "" };
    },
  } satisfies Partial<CommandTable<"logs">>;
}

/** The agent drops a rejected batch; it would resend a failed one forever. */
function rejectedAsUnstorable(error: unknown): Rejection {
  if (!isFault(error) || error.code !== "unstorable") throw error;
  return reject("unstorable", error.message);
}

/** The approximate size of a line in memory: its text and 128 bytes for the other fields. */
const lineBytes = ({ text }: LineRow): number => 128 + Buffer.byteLength(text);

/**
 * Checks that the batch's tokens cover its runs; null when they do. An unreadable token is a fault to retry: this
 * service may lack the key that signed it until it is configured like the scheduler.
 */
function strangerIn(
  batch: Plain<WriteLines>,
  proofs: readonly (RunTokenContent | null)[],
): Rejection | Fault | null {
  const read = proofs.map((proof) => proof?.allocation);
  const run = unprovenRun(batch, new Set(read.filter((allocation) => allocation !== undefined)));
  if (run === null) return null;
  if (read.includes(undefined)) {
    const detail = `agent ${batch.agent} sent a token that no key of this service has signed: it keeps the lines of run ${run}`;
    return new Fault("unproven_lines", detail, { retry: "later" });
  }
  return reject("not_your_run", `run ${run} has no token in this batch, so its lines are refused`);
}

/**
 * Makes sure that the lines of a batch belong to runs of this log's history, and that no line of another grant of them
 * is stored. Returns the final answer for a lost run; the batch of a run that the log may still get waits at its agent.
 */
async function ownRuns(
  { grants, runs, policies }: IngestDeps,
  rows: readonly LineRow[],
  proofs: readonly (RunTokenContent | null)[],
): Promise<Rejection | null> {
  const wanted = new Set(rows.map(({ trial, run }) => `${trial}#${run}`));
  try {
    for (const proof of proofs) {
      const run = proof === null ? null : ownerOf(proof.allocation);
      if (proof === null || run === null || !wanted.has(proof.allocation)) continue;
      await grants.require(proof);
      policies.inHistory(grants.rewinds);
      await runs.own(run, proof);
    }
    return null;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code === historyLost) return reject(historyLost, error.message);
    throw new Fault("unproven_lines", error.message, { retry: "later" });
  }
}

/**
 * Waits until the webhooks that were there before the runs of a batch were granted are known. The lines are stored
 * already, so a batch that is sent again is only compared.
 */
async function knowWebhooks(
  { follower }: IngestDeps,
  proofs: readonly (RunTokenContent | null)[],
): Promise<void> {
  const granted = Math.max(0, ...proofs.map((proof) => proof?.grantPosition ?? 0));
  try {
    await follower.reach(granted, logsLimits.followedWithinMs);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    throw new Fault("log_behind", error.message, { retry: "later" });
  }
}

/**
 * The last new line of each trial or task notifies followers, who then read the table: a flood of lines is not sent
 * twice.
 */
function publish(bus: Bus, stored: readonly StoredRow[]): void {
  const latest = new Map(stored.map((row) => [row.trial, row]));
  for (const [trial, row] of latest) {
    const page = { lines: [storedLine(row)], more: false, next: "" };
    bus.publishLive("LOGS", logSubject(trial), encoder.encode(pages.encode(page)));
  }
}
