/**
 * A tail: the reports of one request and group as one list of bytes, in the order of arrival, until compaction merges
 * tails into blocks. It contains a table's frame and columns one after the other, where a block keeps them apart.
 */
import { type Encoded, type EncodedColumn, writeColumn, writeFrame } from "./block.ts";
import { ByteReader, ByteWriter } from "./bytes.ts";
import type { Table } from "./table.ts";

const version = 1;
const kinds = ["scalar", "json"] as const;

export function tailBytes({ frame, columns }: Table): Uint8Array {
  const to = new ByteWriter(4_096);
  to.byte(version);
  to.sized(() => writeFrame(to, frame));
  to.varint(columns.length);
  for (const column of columns) {
    to.byte(kinds.indexOf(column.kind));
    to.text(column.name);
    to.sized(() => writeColumn(to, column, frame.steps.length));
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
