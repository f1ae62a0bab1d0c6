import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { MemoryBucket, openMemoryStore } from "../testing/memory-objects.ts";
import { StoreBrake } from "./store-brake.ts";

function opened(restMs: number, atOnceMax = 2) {
  const clock = new ManualClock();
  const bucket = new MemoryBucket(clock);
  const store = openMemoryStore(bucket);
  const calls: string[] = [];
  const ask = (brake: StoreBrake, name: string, of = store) =>
    brake.ask(of, async () => {
      calls.push(name);
      return of.head("a");
    });
  const faults: string[] = [];
  const onFault = ({ code }: { readonly code: string }, kind: string): void =>
    void faults.push(`${kind} ${code}`);
  const brake = new StoreBrake({ clock, restMs, atOnceMax, onFault });
  return { clock, bucket, store, calls, ask, brake, faults };
}

test("a store that did not answer gets requests again after the pause", async () => {
  const { clock, bucket, calls, ask, brake } = opened(5_000);
  bucket.state = "away";
  await expect(ask(brake, "first")).rejects.toMatchObject({ code: "storage_away" });
  bucket.state = "there";
  clock.skip(4_999);
  await expect(ask(brake, "second")).rejects.toMatchObject({ code: "storage_away" });
  clock.skip(1);
  expect(await ask(brake, "third")).toBeNull();
  expect(calls).toEqual(["first", "third"]);
});

test("a store that refuses still gets every request, and another store's silence does not affect it", async () => {
  const { bucket, clock, calls, ask, brake, faults } = opened(Number.POSITIVE_INFINITY);
  bucket.state = "refusing";
  await expect(ask(brake, "first")).rejects.toMatchObject({ code: "storage_refused" });
  bucket.state = "away";
  await expect(ask(brake, "second")).rejects.toMatchObject({ code: "storage_away" });
  expect(await ask(brake, "other", openMemoryStore(new MemoryBucket(clock)))).toBeNull();
  await expect(ask(brake, "third")).rejects.toMatchObject({ code: "storage_away" });
  expect(calls).toEqual(["first", "second", "other"]);
  // The third request was not sent.
  expect(faults).toEqual(["s3 storage_refused", "s3 storage_away"]);
});

test("at most `atOnceMax` requests wait for a store, and each finished request frees a place", async () => {
  const { store, brake } = opened(5_000);
  const held = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
  const waiting = held.map(({ promise }) => brake.ask(store, () => promise));
  const more = () => brake.ask(store, async () => "asked");
  await expect(more()).rejects.toThrow("2 wait for it already");
  held[0].resolve();
  await waiting[0];
  expect(await more()).toBe("asked");
  held[1].resolve();
  await waiting[1];
});

test("a root whose call hangs is asked again when the call has ended, and not before", async () => {
  const { clock, brake } = opened(Number.POSITIVE_INFINITY, 1);
  const held = Promise.withResolvers<string>();
  const limit = { ms: 5_000, signal: new AbortController().signal };
  const hanging = expect(brake.ask("/root", () => held.promise, limit)).rejects.toThrow(
    "no answer came within 5 s",
  );
  await clock.advance(5_000);
  await hanging;
  const more = () => brake.ask("/root", async () => "asked", limit);
  await expect(more()).rejects.toThrow("no answer came within 5 s");
  expect(await brake.ask("/other", async () => "asked", limit)).toBe("asked");
  brake.askAgain();
  await expect(more()).rejects.toThrow("1 wait for it already");
  held.resolve("late");
  await held.promise;
  brake.askAgain();
  expect(await more()).toBe("asked");
});

test("a call with a limit ends at its signal, and returns its own result or error before", async () => {
  const { brake } = opened(5_000);
  const stop = new AbortController();
  const limit = { ms: 5_000, signal: stop.signal };
  expect(await brake.ask("/a", async () => 1, limit)).toBe(1);
  const failing = brake.ask("/a", () => Promise.reject(new Error("EIO")), limit);
  await expect(failing).rejects.toThrow("EIO");
  const hanging = brake.ask("/a", () => new Promise(() => {}), limit);
  stop.abort();
  await expect(hanging).rejects.toMatchObject({ code: "storage_away" });
});
