/**
 * Items of one kind as rows of numbers, one beside the other in one array, and what is no number in lists beside it: what
 * a search keeps of each of a hundred thousand trials is then some dozen bytes that lie together, and hardly anything that
 * the garbage collector has to go through. A kind of rows is a subclass; the name of its layout leads to it from a snapshot.
 */
import { assert } from "@trainyard/kernel";

/** The item at an index; one past the end is added, and none at the last index takes it away. */
export type ItemChange<Item> = { readonly index: number; item: Item | typeof none };

export const none = Symbol("none");

export type StoredRows = {
  readonly layout: string;
  readonly size: number;
  /** Row after row. What is not a number is null. */
  readonly numbers: readonly (number | null)[];
  readonly lists: readonly (readonly unknown[])[];
};

const CAPACITY_FIRST = 8;
/** Items that are at hand as they were written or read last: about those of the trials that train. */
const RECENT = 512;

export abstract class Rows<Row> {
  size = 0;
  readonly layout: string;
  /** Numbers of a row. */
  readonly stride: number;
  numbers = new Float64Array(0);
  /** Of each row one item, in each of them. */
  readonly lists: unknown[][];
  /** At the last digits of its index. */
  private readonly recent: Row[] = [];
  /** Of which index the recent one is; -1 for none. */
  private readonly recentOf = new Int32Array(RECENT).fill(-1);

  constructor(layout: string, stride: number, lists: number) {
    this.layout = layout;
    this.stride = stride;
    this.lists = Array.from({ length: lists }, () => []);
  }

  protected abstract read(index: number): Row;
  protected abstract write(index: number, row: Row): void;
  /** An empty one of the same layout. */
  abstract empty(): Rows<Row>;

  get(index: number): Row {
    const slot = index % RECENT;
    if (this.recentOf[slot] === index) return this.recent[slot] as Row;
    return this.keep(index, this.read(index));
  }

  private keep(index: number, row: Row): Row {
    const slot = index % RECENT;
    this.recent[slot] = row;
    this.recentOf[slot] = index;
    return row;
  }

  apply(change: ItemChange<Row>): void {
    const { index, item } = change;
    change.item = index < this.size ? this.get(index) : none;
    if (item === none) this.size -= 1;
    else {
      if (index === this.size) {
        if (index * this.stride === this.numbers.length) {
          this.hold(Math.max(CAPACITY_FIRST, index * 2));
        }
        this.size += 1;
      }
      this.write(index, this.keep(index, item));
    }
  }

  /** Makes room for so many rows. */
  hold(rows: number): void {
    const larger = new Float64Array(rows * this.stride);
    larger.set(this.numbers);
    this.numbers = larger;
  }

  copy(): Rows<Row> {
    const copy = this.empty();
    copy.hold(this.size);
    for (let index = 0; index < this.size; index += 1) copy.write(index, this.read(index));
    copy.size = this.size;
    return copy;
  }

  toJSON(): StoredRows {
    const { layout, size, stride } = this;
    // JSON makes null of what is not a number.
    const numbers = Array.from(this.numbers.subarray(0, size * stride));
    return { layout, size, numbers, lists: this.lists.map((list) => list.slice(0, size)) };
  }
}

const layouts = new Map<string, () => Rows<unknown>>();

/** Makes a kind of rows known, so that a snapshot of them can be read. */
export function registerLayout(empty: () => Rows<unknown>): void {
  layouts.set(empty().layout, empty);
}

export function rowsOf<Row>({ layout, size, numbers, lists }: StoredRows): Rows<Row> {
  const rows = layouts.get(layout)?.() as Rows<Row> | undefined;
  assert(rows !== undefined, `rows of ${layout} are known`);
  rows.hold(Math.max(CAPACITY_FIRST, size));
  for (const [at, number] of numbers.entries()) rows.numbers[at] = number ?? Number.NaN;
  for (const [at, list] of rows.lists.entries()) {
    for (const item of lists[at] ?? []) list.push(item);
  }
  rows.size = size;
  return rows;
}
