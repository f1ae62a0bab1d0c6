import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { systemClock } from "@trainyard/kernel/system-clock";
import { runtimeLimits } from "../limits.ts";
import { type Variant, ViewStage } from "../testing/view-stage.ts";

let stage: ViewStage;

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 100 });

beforeAll(async () => {
  stage = await ViewStage.start();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.afresh());

describe("a view", () => {
  test("continues where it stopped when it restarts", async () => {
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
    // Each replica still receives the events that the other one applied.
    expect([one.seen(), other.seen()]).toEqual(seen.map((before) => before + 180));
  });
});

test("single events are applied together, and at once if a reader waits for them", async () => {
  // The time is fixed, so a rest ends only for a waiting reader.
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

test("a page that takes too long is applied in parts, also in a rebuild", async () => {
  const sizes: number[] = [];
  const before = ({ length }: readonly unknown[]): void => {
    sizes.push(length);
    if (length > 3) throw new Error("Query read timeout");
  };
  await stage.tell("1", "2", "1", "3", "1", "2", "1", "3", "1", "2", "4");
  await using view = await stage.fold({ before });
  await view.reach();
  const counts = { "1": 5, "2": 3, "3": 2, "4": 1 };
  expect(await stage.counts()).toEqual(counts);
  expect(sizes.filter((size) => size <= 3)).toEqual([3, 2, 3, 3]);
  sizes.length = 0;
  view.view.rebuild();
  await until(() => expect(sizes.filter((size) => size <= 3)).toEqual([3, 2, 3, 3]));
  expect(await stage.counts()).toEqual(counts);
  expect(view.errors).toEqual([]);
});

test("a single event has all the time that it needs", async () => {
  const limits: string[] = [];
  const before: Variant["before"] = async (events, client) => {
    if (events.every(({ stream }) => stream !== "experiment-3")) return;
    const { rows } = await client.query<{ limit: string }>(
      "select current_setting('statement_timeout') as limit",
    );
    limits.push(`${events.length}: ${rows[0]?.limit}`);
    if (rows[0]?.limit !== "0") throw new Error("Query read timeout");
  };
  await stage.tell("1", "2", "3", "1");
  await using view = await stage.fold({ before });
  await view.reach();
  expect(await stage.counts()).toEqual({ "1": 2, "2": 1, "3": 1 });
  expect(limits).toEqual(["4: 4500ms", "2: 4500ms", "1: 4500ms", "1: 0"]);
  expect(view.errors).toEqual([]);
});

describe("events that do not concern a view", () => {
  const concerns = ({ stream }: { readonly stream: string }): boolean => stream === "experiment-1";
  const row = async (): Promise<number> => {
    const [cursor] = await stage.sql("select position from tested.view_cursor");
    return Number(cursor?.["position"]);
  };

  test("are skipped without a write, and count as read", async () => {
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

  test("are read again after a restart, but not applied", async () => {
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

  test("move the row after a maximum number, so that a restart reads at most that many again", async () => {
    await stage.tell("1");
    await using view = await stage.fold({ concerns });
    await view.reach();
    await stage.tell(...Array.from({ length: runtimeLimits.lazyCursorEvents }, () => "2"));
    await view.reach();
    expect(await row()).toBeGreaterThan(1);
  });

  test("do not make a replica apply another replica's events twice, or skip them", async () => {
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

  test("can be at the position to which another replica has moved the row", async () => {
    await stage.tell("1");
    await using one = await stage.fold({ concerns });
    await one.reach();
    await stage.tell("2");
    await one.reach();
    // A replica that applies more events moves the row to one that the first replica has skipped.
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

  test("reveal that another replica has emptied the tables", async () => {
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

  test("do not cost rows if the log loses them and the tables are unchanged", async () => {
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

describe("the progress of a view", () => {
  test("is measured by its lag, and by whether it has reached the log's end as of the start", async () => {
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

  test("in an empty log is complete at once", async () => {
    await using running = await stage.fold();
    await until(() => expect(running.view.caughtUpOnce).toBe(true));
  });
});

describe("a rewind", () => {
  test("of the log and the tables together is logged in a running process, and the view continues", async () => {
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

  test("of the log to the position of a view that catches up leaves nothing to catch up with", async () => {
    await stage.tell(...Array.from({ length: runtimeLimits.pageEvents }, () => "1"));
    const restore = await stage.backup();
    await stage.tell("2", "2");
    await using view = await stage.fold({ before: () => restore("log") });
    await until(() => expect(view.view.caughtUpOnce).toBe(true));
    expect(view.view.position).toBe(runtimeLimits.pageEvents);
  });

  test("of the log alone is logged in a running process, and the tables are rebuilt from 0", async () => {
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

  test("is detected if the log has the same commit at the position with another event", async () => {
    await stage.tell("1", "2");
    await using first = await stage.fold();
    await first.reach();
    await first.stop();
    // A reaction that was lost and repeated has the same commit id.
    await stage.sql("update tested.view_cursor set event = '01931b5e-0000-7000-9000-0000000000ff'");
    await stage.sql("update tested.counts set paused = 7");
    await using second = await stage.fold();
    await until(async () => expect(await stage.counts()).toEqual({ "1": 1, "2": 1 }));
    expect(second.errors).toMatchObject([{ msg: "view_rewound" }]);
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

  test("is detected if the log ends before the view's position", async () => {
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

  test("of the tables alone is detected while the process runs", async () => {
    await stage.tell("1", "1");
    await using view = await stage.fold();
    await view.reach();
    // This is the state after a restored backup: older rows and an older cursor under a process that is further.
    await stage.sql("update tested.counts set paused = 1");
    await stage.sql("delete from tested.notes where position > 1");
    const [first] = await stage.log.readAll(0, 1);
    await stage.sql(
      `update tested.view_cursor set position = 1, commit_id = '${first?.commitId}', event = '${first?.id}'`,
    );
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
