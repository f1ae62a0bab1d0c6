import { newEventId } from "@trainyard/event-log";
import { createMemoryLog } from "@trainyard/event-log/testing";
import { pino } from "pino";
import { expect, test } from "vitest";
import { FoldCache } from "../folds/fold-cache.ts";
import type { Aggregate } from "../folds/folds.ts";
import { Executor } from "../work/executor.ts";
import {
  accepted,
  type CommandContext,
  commandHandlers,
  encodeRequest,
  readRejected,
} from "./commands.ts";

/** A stream whose event has the size that the command requests. */
const novels: Aggregate<
  null,
  number,
  { type: "ExperimentStopRequested"; data: { kind: 1; reason: string } }
> = {
  name: "novel",
  category: "experiment",
  decider: {
    initial: null,
    decide: (_, characters) => [
      { type: "ExperimentStopRequested", data: { kind: 1, reason: "x".repeat(characters) } },
    ],
    evolve: () => null,
  },
};

async function write(characters: number) {
  const log = createMemoryLog().as("experiments");
  const executor = new Executor(log, new FoldCache(log));
  const handlers = commandHandlers(
    "experiments",
    {
      PauseExperiment: async (_: never, { identity }: CommandContext) =>
        accepted(
          await executor.execute(identity, async (work) => {
            await work.decide(novels, "1", characters);
          }),
        ),
    },
    pino({ enabled: false }),
  );
  const headers = { commitId: newEventId(), authid: "", traceparent: "", correlationid: "" };
  const body = encodeRequest("experiments", "PauseExperiment", { experiment: "1" });
  return handlers["PauseExperiment"]?.({ headers, body, isLate: () => false });
}

test("a command that would record more than the log accepts is rejected with a remedy", async () => {
  expect(await write(200_000)).toMatchObject({ kind: "ok" });
  const reply = await write(300_000);
  expect(reply?.kind).toBe("rejected");
  if (reply?.kind !== "rejected") return;
  expect(readRejected(reply.body)).toMatchObject({
    rejected: "too_large",
    detail: expect.stringMatching(/more than the log accepts: divide the request/),
  });
});
