import { ManualClock } from "@trainyard/testing";
import { expect, test } from "vitest";
import { limits } from "../limits.ts";
import { BoardWorld } from "../testing/board-world.ts";
import { BoardFolder } from "./board-folder.ts";
import { BoardsAway } from "./board-source.ts";
import { keepBoards } from "./keep-boards.ts";

async function stage() {
  const world = await BoardWorld.open();
  const clock = new ManualClock();
  const stop = new AbortController();
  const lines: string[] = [];
  let seconds: number | null | Error = null;
  const kept = keepBoards(
    {
      ...{ source: world, folder: new BoardFolder(world.root), bytesMax: 100, clock },
      allocation: "t1#1",
      events: { boardsWait: () => {} },
      lookedAtSeconds: async () => {
        if (seconds instanceof Error) throw seconds;
        return seconds;
      },
      note: (line) => void lines.push(line),
    },
    stop.signal,
  );
  return {
    ...{ world, clock, lines, kept },
    looked: (at: number | null | Error) => {
      seconds = at;
    },
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await kept;
      await world[Symbol.asyncDispose]();
    },
  };
}

/** Advances in steps of the looks, so that each wait and the work after it take place. */
async function after(clock: ManualClock, ms: number): Promise<void> {
  for (let at = 0; at < ms; at += limits.boards.lookMs) {
    await clock.advance(Math.min(limits.boards.lookMs, ms - at));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

test("files are fetched at the start, and then at most every 30 s while somebody looks", async () => {
  await using board = await stage();
  await after(board.clock, 300_000);
  expect(board.world.passes).toBe(1);
  board.looked(3);
  await after(board.clock, 10_000);
  expect(board.world.passes).toBe(2);
  await after(board.clock, 90_000);
  expect(board.world.passes).toBeLessThanOrEqual(5);
  expect(board.world.passes).toBeGreaterThanOrEqual(4);
  board.looked(61);
  await after(board.clock, 60_000);
  const { passes } = board.world;
  await after(board.clock, 600_000);
  expect(board.world.passes).toBe(passes);
});

test("a server that does not answer counts as looked at", async () => {
  await using board = await stage();
  board.looked(new Error("no server"));
  await after(board.clock, 70_000);
  expect(board.world.passes).toBeGreaterThan(1);
});

test("an outage is logged once and tried again, also while nobody looks", async () => {
  await using board = await stage();
  board.world.away = new BoardsAway("the gateway is away");
  board.looked(1);
  await after(board.clock, 100_000);
  board.looked(null);
  expect(board.lines).toEqual(["the TensorBoard files cannot be fetched now: the gateway is away"]);
  board.world.away = null;
  board.world.put("1.1", {});
  await after(board.clock, 40_000);
  expect(board.lines.slice(1)).toEqual([
    "experiment 1 has no TensorBoard files yet: they appear here when its trials write some",
  ]);
});

test("a refusal after the run's end is final", async () => {
  await using board = await stage();
  board.world.away = new BoardsAway("run t1#1 has ended", true);
  board.looked(1);
  await after(board.clock, 40_000);
  await board.kept;
  expect(board.lines).toEqual([]);
});
