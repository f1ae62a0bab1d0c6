import { Fault } from "@trainyard/kernel";
import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { Batches } from "./batches.ts";

const limits = {
  rowsPerWriteMax: 3,
  bytesPerWriteMax: 100,
  rowsWaitingMax: 5,
  bytesWaitingMax: 150,
};

/** Each row of these tests is a text with one character per byte. */
const bytesOf = (row: string): number => row.length;

let senders = 0;
/** Returns a sender of one request: requests of such senders are written in the order of their arrival. */
const anyone = (): string => {
  senders += 1;
  return `sender ${senders}`;
};

/** Creates batches whose writes end when the test decides. */
function held(limitsOfTest = limits) {
  const writes: { readonly rows: readonly string[]; readonly end: PromiseWithResolvers<void> }[] =
    [];
  const batches = new Batches(limitsOfTest, bytesOf, async (rows: readonly string[]) => {
    const end = Promise.withResolvers<void>();
    writes.push({ rows, end });
    await end.promise;
    return rows.join("");
  });
  const written = (): readonly string[] => writes.map(({ rows }) => rows.join(""));
  return { writes, written, batches };
}

test("an idle service writes at once, and then all rows that arrived meanwhile, in order, up to the limit", async () => {
  const { writes, written, batches } = held();
  const results = [["a"], ["b", "c"], ["d"], ["e"]].map((rows) => batches.add(anyone(), rows));
  expect(written()).toEqual(["a"]);
  writes[0]?.end.resolve();
  expect(await results[0]).toBe("a");
  expect(written()).toEqual(["a", "bcd"]);
  writes[1]?.end.resolve();
  expect(await Promise.all(results.slice(1, 3))).toEqual(["bcd", "bcd"]);
  expect(written()).toEqual(["a", "bcd", "e"]);
});

test("a write has bounded bytes, unless a single request exceeds the bound", async () => {
  const { writes, batches } = held();
  const [b, c, d, e] = ["b", "c", "d", "e"].map((row) => row.repeat(40)) as [
    string,
    string,
    string,
    string,
  ];
  const first = batches.add(anyone(), ["a"]);
  const results = [[b], [c], [d]].map((rows) => batches.add(anyone(), rows));
  writes[0]?.end.resolve();
  await first;
  expect(writes[1]?.rows).toEqual([b, c]);
  writes[1]?.end.resolve();
  await results[1];
  expect(writes[2]?.rows).toEqual([d]);
  const large = batches.add(anyone(), [e, "e".repeat(65)]);
  const small = batches.add(anyone(), ["f"]);
  writes[2]?.end.resolve();
  await results[2];
  expect(writes[3]?.rows).toEqual([e, "e".repeat(65)]);
  writes[3]?.end.resolve();
  await large;
  writes[4]?.end.resolve();
  expect(await small).toBe("f");
});

test("a failed write fails only for its rows", async () => {
  const { writes, batches } = held();
  const first = batches.add(anyone(), ["a"]);
  const second = batches.add(anyone(), ["b"]);
  writes[0]?.end.reject(new Error("the connection broke"));
  await expect(first).rejects.toThrow("broke");
  writes[1]?.end.resolve();
  expect(await second).toBe("b");
});

test("too many waiting rows are refused, but a single request never is", async () => {
  const { writes, batches } = held();
  const large = batches.add(anyone(), ["a", "b", "c", "d", "e", "f"]);
  await expect(batches.add(anyone(), ["g"])).rejects.toMatchObject({
    code: "overloaded",
    retry: "later",
  });
  writes[0]?.end.resolve();
  expect(await large).toBe("abcdef");
});

test("too many waiting bytes are refused until some are written, but a single request never is", async () => {
  const { writes, batches } = held();
  const large = batches.add(anyone(), ["a".repeat(151)]);
  await expect(batches.add(anyone(), ["b"])).rejects.toMatchObject({
    code: "overloaded",
    retry: "later",
  });
  writes[0]?.end.resolve();
  await large;
  const some = batches.add(anyone(), ["c".repeat(75)]);
  const more = batches.add(anyone(), ["d".repeat(75)]);
  await expect(batches.add(anyone(), ["e"])).rejects.toMatchObject({ code: "overloaded" });
  writes[1]?.end.resolve();
  await some;
  const last = batches.add(anyone(), ["f".repeat(75)]);
  writes[2]?.end.resolve();
  expect(await more).toBe("d".repeat(75));
  writes[3]?.end.resolve();
  expect(await last).toBe("f".repeat(75));
});

/** Creates batches for a table that refuses the row "bad", and counts the writes, each of which ends at once. */
function picky(fault: (row: string) => unknown) {
  const many = { ...limits, rowsPerWriteMax: 100, rowsWaitingMax: 1_000 };
  const stored: string[] = [];
  let writes = 0;
  const batches = new Batches(many, bytesOf, async (rows: readonly string[]) => {
    writes += 1;
    await Promise.resolve();
    const bad = rows.find((row) => row.startsWith("!"));
    if (bad !== undefined) throw fault(bad);
    stored.push(...rows);
    return rows.length;
  });
  const settle = (requests: readonly (readonly string[])[]) =>
    Promise.allSettled(requests.map((rows) => batches.add(anyone(), rows)));
  return { stored, settle, writes: () => writes };
}

const letters = Array.from({ length: 16 }, (_, i) => String.fromCharCode(97 + i));

test("a batch that the table refuses is divided until only the bad request fails, in order", async () => {
  const { stored, settle, writes } = picky((row) => new Error(`no ${row}`));
  // The first request is written alone; the others wait meanwhile and form one batch.
  const requests = [["0"], ...letters.map((letter) => [letter, letter.toUpperCase()])];
  requests[6] = ["f", "!one"];
  requests[7] = ["!two"];
  const results = await settle(requests);
  const failed = results.flatMap(({ status }, i) => (status === "rejected" ? [i] : []));
  expect(failed).toEqual([6, 7]);
  expect(results[6]).toMatchObject({ reason: { message: "no !one" } });
  expect(stored).toEqual(requests.filter((_, i) => i !== 6 && i !== 7).flat());
  // The good requests are not written singly, but in larger pieces.
  expect(writes()).toBeLessThan(14);
});

test("a batch that fails because the database is unavailable is not divided, and all senders retry", async () => {
  const { stored, settle, writes } = picky(() => new Fault("away", "away", { retry: "later" }));
  const results = await settle([["0"], ["a"], ["!"], ["b"]]);
  expect(results.map(({ status }) => status)).toEqual([
    "fulfilled",
    "rejected",
    "rejected",
    "rejected",
  ]);
  expect(stored).toEqual(["0"]);
  expect(writes()).toBe(2);
});

test("a write takes the requests of the senders in turn, and each sender's in order", async () => {
  const { writes, written, batches } = held();
  const first = batches.add("flood", ["0"]);
  const flood = ["1", "2"].map((row) => batches.add("flood", [row]));
  const others = ["a", "b"].map((row) => batches.add(row, [row]));
  writes[0]?.end.resolve();
  await first;
  expect(written()).toEqual(["0", "1ab"]);
  writes[1]?.end.resolve();
  await Promise.all([...others, flood[0]]);
  expect(written()).toEqual(["0", "1ab", "2"]);
  writes[2]?.end.resolve();
  expect(await flood[1]).toBe("2");
});

test("a sender takes at most half of the room, and others get the rest", async () => {
  const { writes, batches } = held({ ...limits, rowsWaitingMax: 8 });
  const accepted = [batches.add("flood", ["0"])];
  for (const row of ["1", "2", "3", "4"]) accepted.push(batches.add("flood", [row]));
  await expect(batches.add("flood", ["5"])).rejects.toMatchObject({ code: "overloaded" });
  accepted.push(batches.add("other", ["a"]));
  for (let n = 0; n < 3; n += 1) {
    await vi.waitFor(() => expect(writes.length).toBeGreaterThan(n));
    writes[n]?.end.resolve();
  }
  await Promise.all(accepted);
  expect(writes.map(({ rows }) => rows.join(""))).toEqual(["0", "1a2", "34"]);
});

test("a request waits for at most one more of each other sender than of its own, whatever senders add", async () => {
  const names = fc.constantFrom("x", "y", "z");
  await fc.assert(
    fc.asyncProperty(fc.array(names, { maxLength: 40 }), async (added) => {
      const order: string[] = [];
      const many = { ...limits, rowsWaitingMax: 1_000, bytesWaitingMax: 10_000 };
      const batches = new Batches(many, bytesOf, async (rows: readonly string[]) => {
        await Promise.resolve();
        order.push(...rows);
      });
      const counts: Record<string, number> = {};
      const rows = added.map((sender) => {
        counts[sender] = (counts[sender] ?? -1) + 1;
        return { sender, row: `${sender}${counts[sender]}` };
      });
      await Promise.all(rows.map(({ sender, row }) => batches.add(sender, [row])));
      // The first request is written at once; the others wait together.
      const waiting = order.slice(1);
      for (const [at, row] of waiting.entries()) {
        const before = waiting.slice(0, at);
        const mine = before.filter((one) => one[0] === row[0]).length;
        for (const other of ["x", "y", "z"].filter((one) => one !== row[0])) {
          expect(before.filter((one) => one[0] === other).length).toBeLessThanOrEqual(mine + 1);
        }
      }
      for (const sender of ["x", "y", "z"]) {
        const own = order.filter((row) => row[0] === sender).map((row) => Number(row.slice(1)));
        expect(own).toEqual(own.toSorted((a, b) => a - b));
      }
    }),
  );
});
