import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { cleanUpForgotten } from "./forgotten-runs.ts";

const never = new AbortController().signal;

type Kept = {
  readonly name: string;
  readonly holds: boolean;
  readonly unsaved?: string;
  readonly keepsWork?: boolean;
};

function stage(names: readonly Kept[]) {
  const removed: string[] = [];
  const givenUp: string[] = [];
  const freed: string[] = [];
  const runOf = ({ name, holds, unsaved = "", keepsWork = false }: Kept, upMs: number) => ({
    allocation: name,
    isDelivered: false,
    holdsCheckpoints: holds,
    folder: {
      path: name,
      key: name,
      keepsWork,
      forgotten: { atMs: 0, upMs },
      workEnd: { unsaved, checkpoint: "" },
      remove: async () => void removed.push(name),
      removeWork: async () => void freed.push(name),
    },
    [Symbol.asyncDispose]: async () => {},
  });
  const runs = new Map(names.map((one, n) => [one.name, runOf(one, n)] as const));
  const events = {
    givenUp: (allocation: string) => void givenUp.push(allocation),
    notRemoved: () => {},
    removed: () => {},
  };
  const lost = { notice: () => {}, cleanUp: async () => {} };
  const cleanUp = (afterMs: number, isLow: (path: string) => boolean): Promise<void> =>
    cleanUpForgotten({ runs, lost, events, uptime: { ms: afterMs }, isLow }, never);
  return { cleanUp, removed, freed, givenUp };
}

test("a folder with the only copy of a checkpoint stays beyond a week while the disk has room", async () => {
  const { cleanUp, removed, givenUp } = stage([
    { name: "a", holds: true },
    { name: "b", holds: false },
  ]);
  await cleanUp(limits.undeliveredMs - 1, () => true);
  expect(removed).toEqual([]);
  await cleanUp(limits.undeliveredMs * 10, () => false);
  expect([removed, givenUp]).toEqual([["b"], ["b"]]);
});

test("of the folders with only copies the oldest go, until the disk has room", async () => {
  const { cleanUp, removed } = stage(["a", "b", "c"].map((name) => ({ name, holds: true })));
  await cleanUp(limits.undeliveredMs * 2, () => removed.length < 2);
  expect(removed).toEqual(["a", "b"]);
});

test("the folder of a task that is not saved stays for a week, and that of others goes at once", async () => {
  const { cleanUp, removed, freed } = stage([
    { name: "a", holds: false, unsaved: "it has more than 10 files" },
    { name: "b", holds: false },
  ]);
  await cleanUp(limits.undeliveredMs - 1, () => false);
  expect([removed, freed]).toEqual([[], ["b"]]);
  await cleanUp(limits.undeliveredMs + 2, () => false);
  expect(removed).toEqual(["a", "b"]);
});

test("the folder of a task stays until its last save is delivered, since the platform may refuse that", async () => {
  const { cleanUp, removed, freed } = stage([
    { name: "a", holds: true, keepsWork: true },
    { name: "b", holds: true },
  ]);
  await cleanUp(limits.undeliveredMs - 1, () => false);
  expect([removed, freed]).toEqual([[], ["b"]]);
  await cleanUp(limits.undeliveredMs + 2, () => false);
  expect([removed, freed]).toEqual([[], ["b", "a", "b"]]);
});
