import { systemClock } from "@trainyard/kernel/system-clock";
import { createLogger } from "@trainyard/runtime";
import { expect, test } from "vitest";
import type { Place, SeriesTopic } from "./core/series.ts";
import { follow } from "./follow.ts";
import { liveLimits } from "./limits.ts";
import { SeriesHub } from "./series-hub.ts";

const topic: SeriesTopic = {
  ...{ key: "lines of 1.1", name: "", kind: "lines", experiment: "", trial: "1.1", group: "" },
  names: [],
};
const pageItems = 2;

/** A simulated store, whose items are their positions and some text; another stage may have the same texts. */
function stage(texts: string[] = []) {
  const world = { reads: 0, isOver: false, fails: false };
  const wakes = new Set<() => void>();
  const hub = new SeriesHub<string>(
    { clock: systemClock, logger: createLogger("gateway", "silent") },
    {
      look: async (_topic, after) => {
        world.reads += 1;
        if (world.fails) throw new Error("the store is away");
        const from = Number(after?.position ?? texts.length);
        const page = texts.slice(from, from + pageItems);
        const items = page.map((text, n) => {
          const position = String(from + n + 1);
          return { text, message: position, position };
        });
        const next = from + page.length;
        const more = next < texts.length;
        const isOver = world.isOver && !more;
        return { items, next: { position: String(next), epoch: "" }, more, isOver };
      },
      tail: async (_topic, wake) => {
        wakes.add(wake);
        return { [Symbol.asyncDispose]: async () => void wakes.delete(wake) };
      },
    },
  );
  const wake = (): void => {
    for (const one of wakes) one();
  };
  const store = (...more: readonly string[]): void => {
    texts.push(...more);
    wake();
  };
  const of = (from: number | null, caller = "ada") => {
    const place: Place | null = from === null ? null : { position: String(from), epoch: "" };
    return follow(hub, { caller, topic, from: place }, new AbortController().signal);
  };
  return { world, store, wake, of, tails: () => wakes.size };
}

/** Collects the messages of a stream. */
function heard(frames: ReturnType<ReturnType<typeof stage>["of"]>) {
  const messages: string[] = [];
  const done = (async () => {
    for await (const { message } of frames) if (message !== undefined) messages.push(message);
  })();
  return { messages, done };
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise(setImmediate);
};

test("a follower of a series that ends while it is behind gets all items, and then ends", async () => {
  const { world, store, of } = stage();
  store("a", "b", "c", "d", "e");
  const stream = of(1);
  expect((await stream.next()).value?.message).toBe("2");
  store("f", "g");
  world.isOver = true;
  const { messages, done } = heard(stream);
  await done;
  expect(messages).toEqual(["3", "4", "5", "6", "7"]);
});

test("followers at the end of a series share each read, and learn of its end from it", async () => {
  const { world, store, wake, of } = stage();
  const all = Array.from({ length: 100 }, (_, n) => heard(of(0, `caller ${n % 10}`)));
  // Each caller reads the first page once, and then one read is for all.
  await until(() => world.reads > 10);
  store("a");
  await until(() => all.every(({ messages }) => messages.length === 1));
  const before = world.reads;
  store("b");
  await until(() => all.every(({ messages }) => messages.length === 2));
  world.isOver = true;
  wake();
  await Promise.all(all.map(({ done }) => done));
  expect(world.reads - before).toBeLessThan(10);
});

test("a follower that does not read delays no other one, and gets everything later", async () => {
  const { world, store, of } = stage();
  const [slow, quick] = [of(0), heard(of(0))];
  store("a");
  expect((await slow.next()).value?.message).toBe("1");
  const text = "x".repeat(liveLimits.watchQueuedCharactersMax / 4);
  // The slow one waits in the hub, with its next item.
  const next = slow.next();
  for (let n = 0; n < 8; n += 1) {
    store(text);
    await until(() => quick.messages.length === n + 2);
  }
  expect((await next).value?.message).toBe("2");
  world.isOver = true;
  const { messages, done } = heard(slow);
  await done;
  expect(messages).toEqual(["3", "4", "5", "6", "7", "8", "9"]);
});

test("a new follower gets the items while one that was too slow has not left", async () => {
  const { store, tails, of } = stage();
  const slow = of(0);
  store("a");
  expect((await slow.next()).value?.message).toBe("1");
  // The slow one waits in the hub for its next item, and then does not read what is too much for it.
  const next = slow.next();
  await until(() => tails() === 1);
  store("b");
  expect((await next).value?.message).toBe("2");
  const text = "x".repeat(liveLimits.watchQueuedCharactersMax);
  store(text, text);
  await until(() => tails() === 0);
  const { messages } = heard(of(4));
  await until(() => tails() === 1);
  store("c");
  await until(() => messages.length === 1);
  expect(messages).toEqual(["5"]);
  await slow.return(undefined);
  store("d");
  await until(() => messages.length === 2);
});

test("a store that does not answer ends the streams at its place", async () => {
  const { world, wake, of } = stage();
  const { messages, done } = heard(of(null));
  const failed = expect(done).rejects.toThrow("the store is away");
  await until(() => world.reads > 1);
  world.fails = true;
  wake();
  await failed;
  expect(messages).toEqual([]);
});

test("a follower whose gateway restarts gets each item once, in order", async () => {
  const texts = Array.from({ length: 40 }, (_, n) => `line ${n + 1}`);
  const got: string[] = [];
  while (got.length < texts.length) {
    // A new gateway has a new hub, and a client continues after the last id that it has.
    const stream = stage(texts).of(got.length);
    const count = Math.min(1 + (got.length % 7), texts.length - got.length);
    for (let n = 0; n < count; n += 1) got.push((await stream.next()).value?.message ?? "");
    await stream.return(undefined);
  }
  expect(got).toEqual(texts.map((_, n) => String(n + 1)));
});
