/**
 * A tail: the reports of one request and group as one list of bytes, in the order of arrival, until compaction merges
 * tails into blocks. It contains a table's frame and columns one after the other, where a block keeps them apart.
 * Earlier versions wrote a JSON list, whose first byte differs.
 */
import { type Encoded, type EncodedColumn, encodeTable, writeColumn, writeFrame } from "./block.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import { aggregations, type Aggregation, type StoredReport, tableOf } from "./table.ts";
import type { JsonObject } from "../values.ts";

const version = 1;
const kinds = ["scalar", "json"] as const;

export function tailBytes(reports: readonly StoredReport[]): Uint8Array {
  const { frame, columns } = tableOf(reports);
  const to = new ByteWriter(4_096);
  to.byte(version);
  to.sized(() => writeFrame(to, frame));
  to.varint(columns.length);
  for (const column of columns) {
    to.byte(kinds.indexOf(column.kind));
    to.text(column.name);
    to.sized(() => writeColumn(to, column, reports.length));
  }
  return to.done();
}

/** Decodes the bytes of `tailBytes`. Throws a RangeError for other bytes. */
export function readTail(bytes: Uint8Array): Encoded {
  const from = new ByteReader(bytes);
  if (from.byte() !== version) {
    throw new RangeError("tail has an unknown format: a newer version of Trainyard wrote it");
  }
  const frame = from.sized();
  const columns = Array.from({ length: from.varint() }, (): EncodedColumn => {
    const kind = kinds[from.byte()];
    if (kind === undefined)
      throw new RangeError(
        "tail has a column of an unknown kind: a newer version of Trainyard wrote it",
      );
    return { kind, name: from.text(), body: from.sized() };
  });
  return { frame, columns };
}

/** Reports whether an earlier version wrote this tail. */
export const isJsonTail = (bytes: Uint8Array): boolean => bytes[0] === "[".charCodeAt(0);

type Line = [key: string, step: number, atMs: number, metrics: JsonObject, ...([] | Beside)];
type Beside = [rank: number, aggregation: Aggregation];

/** Reads a tail of an earlier version: `text` is JSON in UTF-8. */
export function readJsonTail(text: string): Encoded {
  const lines = JSON.parse(text) as readonly Line[]; // Written by an earlier version.
  const reports = lines.map(
    ([key, step, atMs, metrics, rank = 0, aggregation = aggregations[0]]): StoredReport => {
      return { key, step, atMs, rank, aggregation, metrics };
    },
  );
  return encodeTable(tableOf(reports));
}
