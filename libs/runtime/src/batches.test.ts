import { expect, test } from "vitest";
import { Batches } from "./batches.ts";

const limits = { rowsPerWriteMax: 3, rowsWaitingMax: 5 };

/** Writes that end when the test says so. */
function held() {
  const writes: { readonly rows: readonly string[]; readonly end: PromiseWithResolvers<void> }[] =
    [];
  const batches = new Batches(limits, async (rows: readonly string[]) => {
    const end = Promise.withResolvers<void>();
    writes.push({ rows, end });
    await end.promise;
    return rows.join("");
  });
  const written = (): readonly string[] => writes.map(({ rows }) => rows.join(""));
  return { writes, written, batches };
}

test("an idle service writes at once, then what came meanwhile, in order, up to the limit", async () => {
  const { writes, written, batches } = held();
  const results = [["a"], ["b", "c"], ["d"], ["e"]].map((rows) => batches.add(rows));
  expect(written()).toEqual(["a"]);
  writes[0]?.end.resolve();
  expect(await results[0]).toBe("a");
  expect(written()).toEqual(["a", "bcd"]);
  writes[1]?.end.resolve();
  expect(await Promise.all(results.slice(1, 3))).toEqual(["bcd", "bcd"]);
  expect(written()).toEqual(["a", "bcd", "e"]);
});

test("a write that fails fails for its rows only", async () => {
  const { writes, batches } = held();
  const first = batches.add(["a"]);
  const second = batches.add(["b"]);
  writes[0]?.end.reject(new Error("the connection broke"));
  await expect(first).rejects.toThrow("broke");
  writes[1]?.end.resolve();
  expect(await second).toBe("b");
});

test("too many waiting rows are refused; one request alone never is", async () => {
  const { writes, batches } = held();
  const large = batches.add(["a", "b", "c", "d", "e", "f"]);
  await expect(batches.add(["g"])).rejects.toMatchObject({ code: "overloaded", retry: "later" });
  writes[0]?.end.resolve();
  expect(await large).toBe("abcdef");
});
