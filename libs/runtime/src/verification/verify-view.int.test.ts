import { ManualClock } from "@trainyard/testing";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { runtimeLimits } from "../limits.ts";
import { type FoldedView, ViewStage } from "../testing/view-stage.ts";

let stage: ViewStage;
const never = new AbortController().signal;

beforeAll(async () => {
  stage = await ViewStage.start();
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => stage.afresh());

/** Enough experiments for several pages of a comparison; each is paused once. */
const many = Array.from({ length: runtimeLimits.verifyPageRows * 2 + 100 }, (_, n) => String(n));

async function folded(...experiments: readonly string[]): Promise<FoldedView> {
  await stage.tell(...experiments);
  const view = await stage.fold();
  await view.reach();
  return view;
}

describe("the verification of a view", () => {
  test("finds no difference in a correct view", async () => {
    await using view = await folded(...many, "3", "3");
    expect(await view.check().run(never)).toEqual({ position: many.length + 2, finding: "" });
  });

  test("finds no difference while events arrive", async () => {
    await using view = await folded(...many);
    let verifying = true;
    const writing = (async () => {
      for (let n = 0; verifying; n += 1) {
        await stage.tell(String(n % 50), `new-${n}`);
        await view.reach();
      }
    })();
    const verdicts = [];
    for (let n = 0; n < 5; n += 1) verdicts.push(await view.check().run(never));
    verifying = false;
    await writing;
    expect(verdicts.map(({ finding }) => finding)).toEqual(["", "", "", "", ""]);
    expect(verdicts.at(-1)?.position).toBeGreaterThan(many.length);
  });

  test("takes smaller steps when one is too slow, also while it compares", async () => {
    let limit = Number.POSITIVE_INFINITY;
    await stage.tell(...many);
    await using view = await stage.fold({
      before: ({ length }) => {
        if (length > limit) throw new Error("Query read timeout");
      },
    });
    await view.reach();
    limit = 100;
    expect(await view.check().run(never)).toEqual({ position: many.length, finding: "" });
    await stage.sql("update tested.counts set paused = 7 where experiment = '999'");
    expect((await view.check().run(never)).finding).toContain('experiment "999"');
    limit = 0;
    await expect(view.check().run(never)).rejects.toThrow("Query read timeout");
  });

  test("finds the first altered row, on any page", async () => {
    await using view = await folded(...many);
    await stage.sql("update tested.counts set paused = 7 where experiment in ('4000', '999')");
    await stage.sql("update tested.counts set paused = 8 where experiment = '1500'");
    expect((await view.check().run(never)).finding).toBe(
      'the first row that differs is counts (experiment "1500"): paused is 8, but a rebuild has 1',
    );
    await stage.sql("update tested.counts set paused = 1 where experiment in ('1500', '4000')");
    expect((await view.check().run(never)).finding).toContain('experiment "999"');
  });

  test("finds missing rows, and rows without an event", async () => {
    await using view = await folded(...many);
    await stage.sql("delete from tested.counts where experiment > '2'");
    const missing = (await view.check().run(never)).finding;
    expect(missing).toBe('the first row that differs is counts (experiment "20"): it is missing');
    await stage.sql("delete from tested.counts");
    expect((await view.check().run(never)).finding).toContain('experiment "0"): it is missing');
  });

  test("finds rows without an event, even if there are many", async () => {
    await using view = await folded("5");
    await stage.sql("insert into tested.counts select 'x' || n, 1 from generate_series(1, 9000) n");
    expect((await view.check().run(never)).finding).toBe(
      'the first row that differs is counts (experiment "x1"): the log has no such row',
    );
  });

  test("compares every table of the view, by keys of several columns", async () => {
    await using view = await folded("5", "6");
    await stage.sql("update tested.notes set text = repeat('long', 1000) where position = 2");
    const { finding } = await view.check().run(never);
    expect(finding).toContain('notes (experiment "6", position 2): text is "longlong');
    expect(finding).toContain('but a rebuild has "paused"');
    expect(finding.length).toBeLessThan(1_000);
  });

  test("accepts missing rows only in tables from which completed rows are deleted", async () => {
    await using view = await folded("5", "6");
    await stage.sql("delete from tested.work where experiment = '6'");
    expect((await view.check().run(never)).finding).toBe("");
    await stage.sql("delete from tested.work where experiment = '5'");
    expect((await view.check().run(never)).finding).toContain('work (experiment "5")');
  });

  test("reports a cursor that names another commit than the log", async () => {
    await using view = await folded("5");
    const other = "01931b5e-0000-7000-9000-0000000000ff";
    await stage.sql(`update tested.view_cursor set commit_id = '${other}'`);
    expect((await view.check().run(never)).finding).toContain(
      `names commit ${other} at position 1`,
    );
  });

  test("leaves nothing on the connection, and does not change the live tables", async () => {
    await using view = await folded("5");
    await view.check().run(never);
    await stage.tell("5");
    await view.reach();
    expect(await stage.counts()).toEqual({ "5": 2 });
  });
});

describe("a view that cannot be compared", () => {
  test("is reported as unverified if it was never folded", async () => {
    const view = stage.idle();
    await expect(view.check().run(never)).rejects.toThrow("never built");
  });

  test("is reported as unverified if it stalls behind the log", async () => {
    await stage.tell("5", "6");
    const clock = new ManualClock();
    const found = expect(stage.idle(clock).check().run(never)).rejects.toThrow(
      "it is at position 0 and the log at 2",
    );
    await clock.advance(runtimeLimits.verifyStandstillMs);
    await found;
  });

  test("is reported as unverified if it is ahead of the log", async () => {
    await using view = await folded("5");
    await stage.sql("update tested.view_cursor set position = 3");
    await expect(view.check().run(never)).rejects.toThrow("the log ends at 1");
  });

  test("stops its verification when the caller no longer waits", async () => {
    await using view = await folded("5");
    await expect(view.check().run(AbortSignal.abort())).rejects.toThrow("no longer waits");
  });
});
