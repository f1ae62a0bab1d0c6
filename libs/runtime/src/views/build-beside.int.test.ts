import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Fault } from "@trainyard/kernel";
import { ViewStage } from "../testing/view-stage.ts";

let stage: ViewStage;

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 100 });

beforeAll(async () => {
  stage = await ViewStage.start();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.afresh());

describe("a view that is being rebuilt", () => {
  const many = (count: number): readonly string[] =>
    Array.from({ length: count }, (_, n) => String(n % 40));

  test("is read and updated as before until the new tables replace it, with all new events", async () => {
    await stage.tell(...many(2_500));
    const held = Promise.withResolvers<void>();
    let besides = 0;
    await using view = await stage.fold({
      before: async (events) => {
        // The live tables already have the first event.
        if (view.view.position >= 2_500 && events[0]?.position === 1_001) {
          besides += 1;
          await held.promise;
        }
        // One more event reaches the live tables while the last page is applied to the new tables.
        if (besides === 1 && events[0]?.position === 2_001) {
          besides += 1;
          await stage.tell("late");
          await view.reach();
        }
      },
    });
    await view.reach();
    await stage.sql("update tested.counts set paused = 0");
    view.view.rebuild();
    await until(() => expect(besides).toBe(1));
    expect((await view.view.state()).buildingAt).toBe(1_000);
    await stage.tell("new");
    await view.reach();
    expect(await stage.counts()).toMatchObject({ "7": 0, new: 1 });
    held.resolve();
    await until(async () => expect((await view.view.state()).buildingAt).toBeNull());
    expect(await stage.counts()).toMatchObject({ "7": 63, new: 1, late: 1 });
    await stage.tell("new", "7");
    await view.reach();
    expect(await stage.counts()).toMatchObject({ "7": 64, new: 2 });
    expect((await view.check().run(new AbortController().signal)).finding).toBe("");
  });

  test("continues where it stopped when the process restarts", async () => {
    await stage.tell(...many(2_500));
    let position = 0;
    await using first = await stage.fold({
      before: async (events) => {
        position = events[0]?.position ?? 0;
        // The process dies at this point.
        if (first.view.position >= 2_500 && position > 1_000)
          throw new Fault("away", "it dies", { retry: "later" });
      },
    });
    await first.reach();
    first.view.rebuild();
    await until(() => expect([first.view.position, position]).toEqual([2_500, 1_001]));
    await first.stop();
    await stage.sql("update tested.counts set paused = 0");
    const pages: number[] = [];
    await using second = await stage.fold({
      before: (events) => void pages.push(events[0]?.position ?? 0),
    });
    await second.reach();
    await until(async () => expect(await stage.counts()).toMatchObject({ "7": 63 }));
    expect(pages).toEqual([1_001, 2_000]);
  });

  test("is rebuilt once, however often that is asked for while it is", async () => {
    await stage.tell(...many(1_500));
    const held = Promise.withResolvers<void>();
    let begun = 0;
    await using view = await stage.fold({
      before: async (events) => {
        if (view.view.position < 1_500 || events[0]?.position !== 1) return;
        begun += 1;
        await held.promise;
      },
    });
    await view.reach();
    for (let asked = 0; asked < 5; asked += 1) view.view.rebuild();
    await until(() => expect(begun).toBe(1));
    for (let asked = 0; asked < 5; asked += 1) view.view.rebuild();
    held.resolve();
    await until(async () => expect((await view.view.state()).buildingAt).toBeNull());
    await stage.tell("new");
    await view.reach();
    expect(begun).toBe(1);
  });

  test("keeps its indexes and its primary key, even after several rebuilds", async () => {
    await stage.tell("1", "2");
    await using view = await stage.fold();
    await view.reach();
    const shape =
      "select indexdef from pg_indexes where schemaname = 'tested' and tablename = 'notes'";
    const count = (await stage.sql(shape)).length;
    for (const paused of [2, 3, 4]) {
      view.view.rebuild();
      await until(async () => {
        const rows = await stage.sql("select to_regclass('tested.counts__next') as beside");
        expect([rows[0]?.["beside"], (await view.view.state()).buildingAt]).toEqual([null, null]);
      });
      await stage.tell("1");
      await view.reach();
      await until(async () => expect(await stage.counts()).toEqual({ "1": paused, "2": 1 }));
    }
    expect((await stage.sql(shape)).length).toBe(count);
  });
});

describe("a view of a newer version", () => {
  test("is built beside the older one, which is updated and read until the swap, and then stops", async () => {
    await stage.tell("1", "1", "2");
    const held = Promise.withResolvers<void>();
    await using old = await stage.fold();
    await old.reach();
    await using young = await stage.fold({ version: 2, by: 10, before: () => held.promise });
    await until(async () => expect((await young.view.state()).buildingAt).toBe(0));
    await stage.tell("1");
    await old.reach();
    expect(await stage.counts()).toEqual({ "1": 3, "2": 1 });
    expect([old.view.caughtUpOnce, young.view.caughtUpOnce]).toEqual([true, false]);
    held.resolve();
    await young.reach();
    expect(young.view.caughtUpOnce).toBe(true);
    expect(await stage.counts()).toEqual({ "1": 30, "2": 10 });
    await stage.tell("2");
    await young.reach();
    await until(() => expect(old.view.caughtUpOnce).toBe(false));
    await expect(old.view.reach(1)).rejects.toMatchObject({
      code: "view_superseded",
      message: expect.stringContaining("are of version 2, and this process builds version 1"),
    });
    expect(await stage.counts()).toEqual({ "1": 30, "2": 20 });
    expect(old.errors).toMatchObject([{ msg: "view_superseded" }]);
    expect((await young.check().run(new AbortController().signal)).finding).toBe("");
  });

  test("is built once by two processes that start together", async () => {
    await stage.tell(...Array.from({ length: 2_500 }, (_, n) => String(n % 7)));
    await using old = await stage.fold();
    await old.reach();
    await old.stop();
    await using one = await stage.fold({ version: 2, by: 10 });
    await using other = await stage.fold({ version: 2, by: 10 });
    await Promise.all([one.reach(), other.reach()]);
    await stage.tell("0");
    await Promise.all([one.reach(), other.reach()]);
    expect(await stage.counts()).toMatchObject({ "0": 3_590, "6": 3_570 });
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  test("does not write into the tables of a newer version, whichever process starts later", async () => {
    await stage.tell("1");
    await using young = await stage.fold({ version: 2, by: 10 });
    await young.reach();
    await using old = await stage.fold();
    await stage.tell("1");
    await young.reach();
    await until(() => expect(old.errors).toMatchObject([{ msg: "view_superseded" }]));
    expect(await stage.counts()).toEqual({ "1": 20 });
  });
});
