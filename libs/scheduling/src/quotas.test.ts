import { describe, expect, test } from "vitest";
import { explainOne } from "./explain.ts";
import { ToyCluster } from "./testing/toy-cluster.ts";

const strict = { quotas: [{ workspace: "w", slots: 2, borrow: false }] };
const lending = { quotas: [{ workspace: "w", slots: 2, borrow: true }] };

describe("a quota", () => {
  test("holds back the runs of its workspace, but no others", () => {
    const toy = new ToyCluster(strict, { a: 8 });
    for (const id of ["one", "two", "three"]) toy.queue(id, 1, { workspace: "w" });
    for (const id of ["x", "y", "z"]) toy.queue(id, 1, { workspace: "v" });
    expect(toy.placed()).toEqual(["one", "two", "x", "y", "z"]);
    expect(explainOne(toy.pool, "three", 0)).toMatchObject({
      reason: "quota",
      detail: "the workspace w holds 2 slots of its quota of 2",
      limit: "quota of w: 2",
    });
  });

  test("lends unneeded slots to preemptible runs of its workspace, and the grant says how many", () => {
    const toy = new ToyCluster(lending, { a: 8 });
    toy.queue("first", 1, { workspace: "w" });
    toy.queue("half", 2, { workspace: "w" });
    toy.queue("fixed", 1, { workspace: "w", preemptible: false, priority: 90 });
    toy.queue("other", 5);
    const { grants } = toy.pass();
    expect(grants.map(({ id, borrowed }) => [id, borrowed])).toEqual([
      ["first", 0],
      ["other", 0],
      ["fixed", 0],
    ]);
    toy.end("other");
    expect(toy.pass().grants).toMatchObject([{ id: "half", borrowed: 2 }]);
  });

  test("takes borrowed slots back when other workspaces need them, even in a pool that does not preempt", () => {
    const toy = new ToyCluster(lending, { a: 4 });
    for (let n = 0; n < 4; n += 1) toy.queue(`w${n}`, 1, { workspace: "w" });
    expect(toy.pass().grants.map(({ borrowed }) => borrowed)).toEqual([0, 0, 1, 1]);
    toy.queue("owner", 1, { workspace: "v" });
    const { stops } = toy.pass();
    expect(stops).toEqual([{ id: "w3", by: "owner" }]);
    toy.end("w3");
    expect(toy.placed()).toEqual(["owner"]);
    toy.queue("too much", 3, { workspace: "v" });
    expect(toy.pass().stops, "what it owns is not taken").toEqual([]);
  });
});

test("a job holds at most its max_slots, which a user may change", () => {
  const toy = new ToyCluster({}, { a: 8 });
  for (const id of ["one", "two", "three"]) toy.queue(id, 1, { job: "j", maxSlots: 2 });
  expect(toy.placed()).toEqual(["one", "two"]);
  expect(explainOne(toy.pool, "three", 0)).toMatchObject({ reason: "max_slots" });
  toy.pool.updateJob("j", { maxSlots: null });
  expect(toy.placed()).toEqual(["three"]);
  toy.pool.updateJob("j", { maxSlots: 3 });
  toy.queue("four", 1, { job: "j" });
  expect(toy.placed(), "also for those that come later").toEqual([]);
});
