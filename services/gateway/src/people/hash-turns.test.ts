import { atRest } from "@trainyard/testing";
import { expect, test } from "vitest";
import { HashTurns } from "./hash-turns.ts";
import { peopleLimits } from "./limits.ts";

const { hashesMax, hashesWaitingMax, hashesOfOneMax } = peopleLimits;

/** Tasks that end together. */
class Tasks {
  readonly turns = new HashTurns();
  readonly #end = Promise.withResolvers<void>();
  running = 0;
  most = 0;

  begin = (origin: string): Promise<void> =>
    this.turns.take(origin, async () => {
      this.running += 1;
      this.most = Math.max(this.most, this.running);
      await this.#end.promise;
      this.running -= 1;
    });

  end = (): void => this.#end.resolve();
}

test("two hashes run at once, a few wait, and the next one is refused with the time to wait", async () => {
  const tasks = new Tasks();
  const begun = Array.from({ length: hashesMax + hashesWaitingMax }, (_, i) =>
    tasks.begin(String(i)),
  );
  await expect(tasks.begin("x")).rejects.toMatchObject({ status: 429, code: "busy" });
  tasks.end();
  await Promise.all(begun);
  expect(tasks.most).toBe(hashesMax);
  await tasks.begin("x");
});

test("one origin takes only a part of the places", async () => {
  const tasks = new Tasks();
  const begun = Array.from({ length: hashesOfOneMax }, () => tasks.begin("one"));
  await expect(tasks.begin("one")).rejects.toMatchObject({ status: 429 });
  const other = tasks.begin("two");
  tasks.end();
  await Promise.all([...begun, other]);
  await tasks.begin("one");
});

test("a task that fails hands its place over", async () => {
  const turns = new HashTurns();
  const failing = async (): Promise<never> => {
    await atRest();
    throw new Error("no memory");
  };
  const all = Array.from({ length: 4 }, () => turns.take("one", failing));
  const ended = await Promise.allSettled(all);
  expect(ended.map(({ status }) => status)).toEqual(all.map(() => "rejected"));
});
