import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { Fault } from "@trainyard/kernel";
import { type FoldedView, ViewStage } from "../testing/view-stage.ts";

let stage: ViewStage;

const until = (holds: () => unknown): Promise<unknown> =>
  vi.waitFor(holds, { timeout: 90_000, interval: 100 });

beforeAll(async () => {
  stage = await ViewStage.start();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.afresh());

describe("an event that cannot be applied", () => {
  const refuses = (experiment: string): boolean => experiment.startsWith("bad");
  const aside = (view: FoldedView) => view.view.setAside();

  test("is set aside with its reason, later events of its stream wait, and all others are applied", async () => {
    await stage.tell("1", "2", "bad", "1", "bad", "3");
    await using view = await stage.fold({ refuses });
    await view.reach();
    await stage.tell("bad", "2");
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 2, "2": 2, "3": 1 });
    const [first, ...rest] = await aside(view);
    expect(rest).toEqual([]);
    expect(first).toMatchObject({
      stream: "experiment-bad",
      position: 3,
      type: "dev.trainyard.experiment.ExperimentPaused.v1",
      waiting: 2,
    });
    expect(first?.reason).toContain('invalid input syntax for type integer: "bad"');
    expect(first?.atMs).toBeGreaterThan(Date.now() - 3_600_000);
    expect(view.errors).toMatchObject([{ msg: "event_set_aside", position: 3 }]);
    expect((await view.view.state()).lag).toBe(0);
  });

  test("is found anywhere on a page, together with further ones", async () => {
    const told = Array.from({ length: 300 }, (_, n) => (n % 100 === 57 ? `bad-${n}` : String(n)));
    await stage.tell(...told);
    await using view = await stage.fold({ refuses });
    await view.reach();
    expect((await aside(view)).map(({ position }) => position)).toEqual([58, 158, 258]);
    expect(Object.keys(await stage.counts())).toHaveLength(297);
  });

  test("stays set aside after a restart, even in a process that could apply it", async () => {
    await stage.tell("1", "bad");
    await using first = await stage.fold({ refuses });
    await first.reach();
    await first.stop();
    await stage.tell("bad", "1");
    await using second = await stage.fold();
    await second.reach();
    expect(await stage.counts()).toEqual({ "1": 2 });
    expect(await aside(second)).toMatchObject([{ stream: "experiment-bad", waiting: 1 }]);
  });

  test("is not set aside when the database or the network fails: the page is repeated", async () => {
    let failures = 4;
    const before = (): void => {
      failures -= 1;
      if (failures >= 0) throw new Fault("away", "it does not answer", { retry: "later" });
    };
    await stage.tell("1", "2");
    await using view = await stage.fold({ before });
    await view.reach();
    expect(await stage.counts()).toEqual({ "1": 1, "2": 1 });
    expect(await aside(view)).toEqual([]);
  });

  test("is not set aside when so many events fail that the view is at fault: the page is repeated", async () => {
    await stage.tell("1", ...Array.from({ length: 30 }, (_, n) => `bad-${n}`));
    let wholePages = 0;
    await using view = await stage.fold({
      before: (events) => {
        if (events.length === 31) wholePages += 1;
      },
      // The page is applied as a whole, then in halves, then as a whole again.
      refuses: (one) => wholePages < 3 && refuses(one),
    });
    await view.reach();
    expect(await aside(view)).toEqual([]);
    expect(view.errors).toEqual([]);
    expect(Object.keys(await stage.counts())).toHaveLength(31);
  });

  test("is reported by a verification, which still finds other differences", async () => {
    await stage.tell("1", "bad", "2", "bad");
    await using view = await stage.fold({ refuses });
    await view.reach();
    const { finding } = await view.check().run(new AbortController().signal);
    expect(finding).toMatch(
      /^it has all but 1 streams that are set aside, the first of them experiment-bad from position 2 on: invalid input/,
    );
    await stage.sql("update tested.counts set paused = 5 where experiment = '2'");
    expect((await view.check().run(new AbortController().signal)).finding).toContain(
      "paused is 5, but a rebuild has 1",
    );
  });

  test("is applied in order when the view is rebuilt", async () => {
    await stage.tell("1", "bad", "2", "bad");
    await using first = await stage.fold({ refuses });
    await first.reach();
    await first.stop();
    await using mended = await stage.fold();
    await mended.reach();
    mended.view.rebuild();
    await until(async () => expect(await aside(mended)).toEqual([]));
    expect(await stage.counts()).toEqual({ "1": 1, "2": 1, bad: 2 });
    await stage.tell("bad");
    await mended.reach();
    expect(await stage.counts()).toEqual({ "1": 1, "2": 1, bad: 3 });
  });
});
