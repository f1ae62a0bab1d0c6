/**
 * From an agent's batch to stored lines: all of them in one commit, in the order in which they came, each once.
 * Followers hear of them after the commit, and the log of those that match a log policy, before the answer. A batch
 * comes with the tokens of its runs: agents share the bus, and a line that another could write would also keep the true
 * one of its number out.
 */
import type { KeyObject } from "node:crypto";
import { type Bus, logSubject } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  AcceptedSchema,
  type LinePage,
  LinePageSchema,
  type WriteLines,
  WriteLinesSchema,
} from "@trainyard/contracts/commands";
import { Fault, isFault, isRejection, type Rejection, reject } from "@trainyard/kernel";
import { Batches, type CommandSpec, command, readRunToken } from "@trainyard/runtime";
import { type LineRow, parseBatch, unprovenRun } from "../core/batch.ts";
import type { Telemetry } from "../telemetry.ts";
import { logsLimits } from "../limits.ts";
import { type LineTable, lineName, type StoredRow } from "./line-table.ts";
import type { LogPolicies } from "./policies.ts";
import { storedLine } from "./stored-line.ts";

const pages = codecOf<Plain<LinePage>>(LinePageSchema);
const encoder = new TextEncoder();

export type IngestDeps = {
  readonly table: LineTable;
  readonly policies: LogPolicies;
  readonly bus: Bus;
  readonly events: Telemetry;
  readonly runTokenKeys: ReadonlyMap<string, KeyObject>;
};

export function writeCommands({
  table,
  policies,
  bus,
  events,
  runTokenKeys,
}: IngestDeps): Readonly<Record<string, CommandSpec>> {
  const insert = (rows: readonly LineRow[]) => table.insert(rows);
  const batches = new Batches(logsLimits, lineBytes, insert);
  return {
    WriteLines: command(WriteLinesSchema, AcceptedSchema, async (batch) => {
      const rows = parseBatch(batch, logsLimits);
      if (isRejection(rows)) return rows;
      const stranger = strangerIn(batch, runTokenKeys);
      if (stranger !== null) {
        events.unproven();
        if (isRejection(stranger)) return stranger;
        throw stranger;
      }
      if (rows.length > 0) {
        const places = await batches.add(rows).catch(rejectedAsUnstorable);
        if (isRejection(places)) return places;
        const stored = rows.flatMap((row): StoredRow[] => {
          const place = places.get(lineName(row));
          return place === undefined ? [] : [{ ...row, ...place }];
        });
        events.taken(stored.length, rows.length - stored.length);
        publish(bus, stored);
        // All of them: a batch that comes again may have died here.
        await policies.apply(batch.agent, rows);
      }
      // Lines are no part of the log.
      return { position: 0, stream: "" };
    }),
  };
}

/** The agent drops what will never be taken, instead of sending it forever. */
function rejectedAsUnstorable(error: unknown): Rejection {
  if (!isFault(error) || error.code !== "unstorable") throw error;
  return reject("unstorable", error.message);
}

/** Roughly what a line weighs on its way: its text, and a little for whose it is. */
const lineBytes = ({ text }: LineRow): number => 128 + Buffer.byteLength(text);

/**
 * Why a batch is not its sender's to write; null when it is. One whose tokens say nothing (none, or of a key that is
 * not in force) is the world's fault: an agent of an earlier version keeps its lines until a newer one sends them.
 */
function strangerIn(
  batch: Plain<WriteLines>,
  keys: ReadonlyMap<string, KeyObject>,
): Rejection | Fault | null {
  const read = batch.tokens.map((token) => readRunToken(keys, token)?.allocation);
  const run = unprovenRun(batch, new Set(read.filter((allocation) => allocation !== undefined)));
  if (run === null) return null;
  if (read.length === 0 || read.includes(undefined)) {
    const detail = `agent ${batch.agent} sent no valid token of run ${run}: its lines wait there until it is updated`;
    return new Fault("unproven_lines", detail, { retry: "later" });
  }
  return reject("not_your_run", `lines of run ${run} came without its token`);
}

/** The last of a trial's new lines announces them: followers read the table, and a flood is not sent twice. */
function publish(bus: Bus, stored: readonly StoredRow[]): void {
  const latest = new Map(stored.map((row) => [row.trial, row]));
  for (const [trial, row] of latest) {
    const page = { lines: [storedLine(row)], more: false, next: "" };
    bus.publishLive("LOGS", logSubject(trial), encoder.encode(pages.encode(page)));
  }
}
