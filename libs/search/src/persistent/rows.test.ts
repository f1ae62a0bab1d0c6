import { draw } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { Rows } from "./rows.ts";
import { itemAt, itemsOf, pushed, type Vector, vectorOf, withItem } from "./vector.ts";

type Pair = { readonly count: number; readonly name: string };

class PairRows extends Rows<Pair> {
  constructor() {
    super("pair", 1, 1);
  }

  empty(): PairRows {
    return new PairRows();
  }

  protected read(index: number): Pair {
    return { count: this.numbers[index] as number, name: this.lists[0]?.[index] as string };
  }

  protected write(index: number, { count, name }: Pair): void {
    this.numbers[index] = count;
    const [names] = this.lists;
    if (names !== undefined) names[index] = name;
  }
}

test("rows are read as they were written, however many others are at hand, and are undone as one", () => {
  const size = 2_000;
  const array: Pair[] = [];
  let rows: Vector<Pair> = vectorOf(new PairRows());
  for (let n = 0; n < size; n += 1) {
    array.push({ count: n, name: `first ${n}` });
    rows = pushed(rows, { count: n, name: `first ${n}` });
  }
  for (let n = 0; n < 5_000; n += 1) {
    const index = Math.floor(draw(1, "index", n) * size);
    expect(itemAt(rows, index)).toEqual(array[index]);
    array[index] = { count: -n, name: `then ${n}` };
    rows = withItem(rows, index, { count: -n, name: `then ${n}` });
  }
  expect([...itemsOf(rows)]).toEqual(array);
  const before = rows;
  let after = rows;
  for (let n = 0; n < 300; n += 1) after = withItem(after, n * 6, { count: n, name: "later" });
  expect([...itemsOf(before)]).toEqual(array);
  expect(itemAt(after, 6)).toEqual({ count: 1, name: "later" });
});
