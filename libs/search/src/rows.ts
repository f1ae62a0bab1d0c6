/**
 * Items of one kind by columns, an array for each of their fields, numbers in typed ones: what a search keeps of each of a
 * hundred thousand trials is then a few hundred bytes less, and nothing that the garbage collector has to go through.
 * A kind of rows is a subclass; the name of its layout leads to it from a snapshot.
 */
import { assert } from "@trainyard/kernel";

/** The item at an index; one past the end is added, and none at the last index takes it away. */
export type ItemChange<Item> = { readonly index: number; readonly item: Item | typeof none };

export const none = Symbol("none");

export type Column = Float64Array | Uint32Array | Uint8Array | unknown[];

export type StoredRows = {
  readonly layout: string;
  readonly size: number;
  readonly columns: readonly (readonly unknown[])[];
};

const CAPACITY_FIRST = 8;

export abstract class Rows<Row> {
  size = 0;
  capacity = 0;
  abstract readonly layout: string;
  /** The same columns in the same order always. */
  columns: Column[];

  constructor(columns: readonly Column[]) {
    this.columns = [...columns];
  }

  abstract get(index: number): Row;
  abstract set(index: number, row: Row): void;
  /** After `columns` have become others. */
  abstract named(): void;
  /** An empty one of the same layout. */
  abstract empty(): Rows<Row>;

  apply({ index, item }: ItemChange<Row>): ItemChange<Row> {
    const before = index < this.size ? this.get(index) : none;
    if (item === none) this.size -= 1;
    else {
      if (index === this.size) {
        if (this.size === this.capacity) this.grow(Math.max(CAPACITY_FIRST, this.capacity * 2));
        this.size += 1;
      }
      this.set(index, item);
    }
    return { index, item: before };
  }

  grow(capacity: number): void {
    this.columns = this.columns.map((column) => grown(column, capacity));
    this.capacity = capacity;
    this.named();
  }

  copy(): Rows<Row> {
    const copy = this.empty();
    copy.grow(Math.max(CAPACITY_FIRST, this.size));
    for (let index = 0; index < this.size; index += 1) copy.set(index, this.get(index));
    copy.size = this.size;
    return copy;
  }

  toJSON(): StoredRows {
    const columns = this.columns.map((column) =>
      // JSON has no NaN, and makes null of it.
      Array.from(column, (value) => (Number.isNaN(value) ? null : value)).slice(0, this.size),
    );
    return { layout: this.layout, size: this.size, columns };
  }
}

function grown(column: Column, capacity: number): Column {
  if (Array.isArray(column)) return column;
  const Kind = column.constructor as new (capacity: number) => Exclude<Column, unknown[]>;
  const larger = new Kind(capacity);
  larger.set(column);
  return larger;
}

const layouts = new Map<string, () => Rows<unknown>>();

/** Makes a kind of rows known, so that a snapshot of them can be read. */
export function registerLayout(empty: () => Rows<unknown>): void {
  layouts.set(empty().layout, empty);
}

export function rowsOf<Row>({ layout, size, columns }: StoredRows): Rows<Row> {
  const rows = layouts.get(layout)?.() as Rows<Row> | undefined;
  assert(rows !== undefined, `rows of ${layout} are known`);
  rows.grow(Math.max(CAPACITY_FIRST, size));
  for (const [at, column] of rows.columns.entries()) {
    const stored = columns[at] ?? [];
    for (let index = 0; index < size; index += 1) {
      // What is not a number has become null.
      column[index] = Array.isArray(column) ? stored[index] : ((stored[index] as number) ?? NaN);
    }
  }
  rows.named();
  rows.size = size;
  return rows;
}
