import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "@trainyard/kernel/system-clock";
import { runtimeLimits } from "../limits.ts";
import { ViewStage } from "../testing/view-stage.ts";

let stage: ViewStage;

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 20 });

beforeAll(async () => {
  stage = await ViewStage.start();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.afresh());

describe("a view", () => {
  test("continues where it was when it starts again", async () => {
    await stage.tell("1", "2");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    await stage.tell("1");
    await using second = await stage.fold();
    await second.reach();
    expect(await stage.counts()).toEqual({ "1": 2, "2": 1 });
    expect(second.errors).toEqual([]);
  });

  test("of several replicas applies each event once", async () => {
    await using one = await stage.fold();
    await using other = await stage.fold();
    await stage.tell("0");
    await Promise.all([one.reach(), other.reach()]);
    const seen = [one.seen(), other.seen()];
    for (let n = 0; n < 60; n += 1) await stage.tell("1", "2", "3");
    await Promise.all([one.reach(), other.reach()]);
    expect(await stage.counts()).toEqual({ "0": 1, "1": 60, "2": 60, "3": 60 });
    // Events that one applied still reach the other.
    expect([one.seen(), other.seen()]).toEqual(seen.map((before) => before + 180));
  });
});

test("events that come one by one are applied together, and at once where somebody waits for them", async () => {
  // Time does not pass, so a rest ends only for someone who waits.
  const clock = { ...systemClock, monotonicMs: () => 0, timer: () => new DisposableStack() };
  const pages: number[] = [];
  const before = ({ length }: readonly unknown[]): void => void pages.push(length);
  await using view = await stage.fold({ clock, before });
  await stage.tell("1");
  await view.reach();
  for (const experiment of ["2", "3", "4"]) await stage.tell(experiment);
  await view.reach();
  expect(pages).toEqual([1, 3]);
});

describe("events that do not concern a view", () => {
  const concerns = ({ stream }: { readonly stream: string }): boolean => stream === "experiment-1";
  const row = async (): Promise<number> => {
    const [cursor] = await stage.sql("select position from tested.view_cursor");
    return Number(cursor?.["position"]);
  };

  test("pass by without a write, and count as read", async () => {
    await stage.tell("1");
    await using view = await stage.fold({ concerns });
    await view.reach();
    await stage.tell("2", "3");
    await view.reach();
    expect([view.view.position, await view.view.lag(), await row()]).toEqual([3, 0, 1]);
    await stage.tell("4", "1", "5");
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 2 });
    expect(view.seen()).toBe(2);
  });

  test("are read again by a process that starts, and applied by none", async () => {
    await stage.tell("1");
    await using first = await stage.fold({ concerns });
    await first.reach();
    await stage.tell("2", "3");
    await first.reach();
    await first.stop();
    await using second = await stage.fold({ concerns });
    await stage.tell("1");
    await second.reach();
    expect(await stage.counts()).toEqual({ "1": 2 });
    expect(second.errors).toEqual([]);
  });

  test("move the row after so many, so that a start reads no more than these again", async () => {
    await stage.tell("1");
    await using view = await stage.fold({ concerns });
    await view.reach();
    await stage.tell(...Array.from({ length: runtimeLimits.lazyCursorEvents }, () => "2"));
    await view.reach();
    expect(await row()).toBeGreaterThan(1);
  });

  test("do not let a replica apply twice, or not at all, what another has applied", async () => {
    await using one = await stage.fold({ concerns });
    await using other = await stage.fold({ concerns });
    for (let n = 0; n < 40; n += 1) {
      await stage.tell(...(n % 3 === 0 ? ["2"] : ["2", "1", "3"]));
      if (n % 5 === 0) await one.reach();
      if (n % 7 === 0) await other.reach();
    }
    await Promise.all([one.reach(), other.reach()]);
    expect(await stage.counts()).toEqual({ "1": 26 });
    expect([...one.errors, ...other.errors]).toEqual([]);
  });

  test("may be where another replica has left the row", async () => {
    await stage.tell("1");
    await using one = await stage.fold({ concerns });
    await one.reach();
    await stage.tell("2");
    await one.reach();
    // One that applies more moves the row to what the first has passed.
    await using other = await stage.fold();
    await other.reach();
    await other.stop();
    expect(await row()).toBe(2);
    await stage.tell("3");
    await one.reach();
    await stage.tell("1");
    await one.reach();
    expect(await stage.counts()).toEqual({ "1": 2, "2": 1 });
  });

  test("show that another replica has emptied the tables", async () => {
    await stage.tell("1");
    await using one = await stage.fold({ concerns });
    await one.reach();
    await stage.sql("truncate tested.counts, tested.notes, tested.work");
    await stage.sql("update tested.view_cursor set position = 0, event = ''");
    const told = async (): Promise<void> => {
      await stage.tell("2");
      await one.reach();
      expect(await stage.counts()).toEqual({ "1": 1 });
    };
    await until(told);
  });

  test("that are lost with the log, while their rows are not, cost no rows", async () => {
    await stage.tell("1");
    const restore = await stage.backup();
    await using view = await stage.fold({ concerns });
    await view.reach();
    await stage.tell("2", "2");
    await view.reach();
    await restore("log");
    await stage.tell("1");
    await until(async () => expect(await stage.counts()).toEqual({ "1": 2 }));
    expect(view.errors).toMatchObject([{ msg: "log_rewound" }]);
  });
});

describe("how far a view is", () => {
  test("is measured: its lag, and whether it has reached the log's end as it was at the start", async () => {
    await stage.tell("1", "2");
    const view = stage.idle();
    expect([view.view.caughtUpOnce, await view.view.lag()]).toEqual([false, null]);
    await using running = await stage.fold();
    await running.reach();
    expect([running.view.caughtUpOnce, await running.view.lag()]).toEqual([true, 0]);
    await running.stop();
    await stage.tell("1", "1", "1");
    expect([running.view.caughtUpOnce, await running.view.lag()]).toEqual([true, 3]);
  });

  test("of an empty log is caught up at once", async () => {
    await using running = await stage.fold();
    await until(() => expect(running.view.caughtUpOnce).toBe(true));
  });
});

describe("a rewind", () => {
  test("of the log and the tables together, under a running process, is logged, and the view continues", async () => {
    await stage.tell("1");
    await using view = await stage.fold();
    await view.reach();
    const restore = await stage.backup();
    await stage.tell("1", "2");
    await view.reach();
    await restore("log and tables");
    await until(() => expect(view.view.position).toBe(1));
    await stage.tell("3");
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 1, "3": 1 });
    expect(view.errors).toMatchObject([{ msg: "log_rewound" }]);
    expect(view.rewinds).toBe(1);
  });

  test("of the log, to where a view that catches up already is, leaves nothing to catch up with", async () => {
    await stage.tell(...Array.from({ length: runtimeLimits.pageEvents }, () => "1"));
    const restore = await stage.backup();
    await stage.tell("2", "2");
    await using view = await stage.fold({ before: () => restore("log") });
    await until(() => expect(view.view.caughtUpOnce).toBe(true));
    expect(view.view.position).toBe(runtimeLimits.pageEvents);
  });

  test("of the log alone, under a running process, is logged, and the tables are folded again", async () => {
    await stage.tell("1");
    const restore = await stage.backup();
    await stage.tell("1", "2");
    await using view = await stage.fold();
    await view.reach();
    await restore("log");
    await stage.tell("3", "4", "5");
    await until(async () =>
      expect(await stage.counts()).toEqual({ "1": 1, "3": 1, "4": 1, "5": 1 }),
    );
    expect(view.errors).toMatchObject([{ msg: "log_rewound" }, { msg: "view_rewound" }]);
  });

  test("to a log that has the same commit at the position, with another event, is one too", async () => {
    await stage.tell("1", "2");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    // A reaction that was lost and is done again has its commit's id.
    await stage.sql(
      "update tested.view_cursor set event = '2 01931b5e-0000-7000-9000-0000000000ff'",
    );
    await stage.sql("update tested.counts set paused = 7");
    await using second = await stage.fold();
    await until(async () => expect(await stage.counts()).toEqual({ "1": 1, "2": 1 }));
    expect(second.errors).toMatchObject([{ msg: "view_rewound" }]);
  });

  test("of a view whose cursor an older program has moved is none", async () => {
    await stage.tell("1", "2");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    const [second] = await stage.log.readAll(1, 1);
    await stage.tell("3");
    await stage.sql(
      `update tested.view_cursor set event = '1 01931b5e-0000-7000-9000-0000000000ff', commit_id = '${second?.commitId}'`,
    );
    await using again = await stage.fold();
    await again.reach();
    expect(again.errors).toEqual([]);
  });

  const otherCommit =
    "update tested.view_cursor set commit_id = '01931b5e-0000-7000-9000-0000000000ff'";

  test("is reported, and the tables are folded again from 0", async () => {
    await stage.tell("1", "2", "2");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    await stage.sql("update tested.counts set paused = 40");
    await stage.sql(otherCommit);
    await using second = await stage.fold();
    await second.reach();
    expect(await stage.counts()).toEqual({ "1": 1, "2": 2 });
    expect(second.errors).toMatchObject([
      { msg: "view_rewound", view: "tested.counts", position: 3 },
    ]);
  });

  test("of a log that ends before the view's position is one too", async () => {
    await stage.tell("1");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    await stage.sql("update tested.view_cursor set position = 9");
    await using second = await stage.fold();
    await second.reach();
    expect(second.errors).toMatchObject([{ msg: "view_rewound", position: 9, commitOfLog: null }]);
    expect(await stage.counts()).toEqual({ "1": 1 });
  });

  test("of the tables is seen while the process runs", async () => {
    await stage.tell("1", "1");
    await using view = await stage.fold();
    await view.reach();
    // The state after a restored backup: rows and cursor as they were, under a process that is further.
    await stage.sql("update tested.counts set paused = 1");
    await stage.sql("delete from tested.notes where position > 1");
    const [first] = await stage.log.readAll(0, 1);
    await stage.sql(`update tested.view_cursor set position = 1, commit_id = '${first?.commitId}'`);
    await stage.tell("1");
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 3 });
    await stage.sql(otherCommit);
    await stage.tell("1");
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 4 });
    expect(view.errors).toMatchObject([{ msg: "view_rewound", position: 3 }]);
  });
});
