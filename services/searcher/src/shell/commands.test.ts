import type { Plain } from "@trainyard/contracts";
import type { PostSearchOperations } from "@trainyard/contracts/commands";
import { TrialOutcome } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { commandHandlers, decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { exampleConfig, experimentCreated, trialEnded } from "../testing/examples.ts";
import { commandTable } from "./commands.ts";
import { reactionHandlers } from "./reactions.ts";
import { RunIndex } from "./run-index.ts";

let stage: Stage;

beforeEach(async () => {
  stage = new Stage("searcher", ({ log }) => reactionHandlers(new RunIndex(log), log));
  const { data } = experimentCreated();
  const searcher = {
    name: "custom",
    metric: "loss",
    smaller_is_better: true,
    max_trials: 0,
    max_concurrent_trials: 0,
    time_metric: "",
  };
  const config = { ...exampleConfig, searcher };
  await stage.tell("experiment-12", { type: "ExperimentCreated", data: { ...data, config } });
  await stage.settle();
});

type CommandReply = Awaited<ReturnType<ReturnType<typeof commandHandlers>[string]>>;
type Operation = Plain<PostSearchOperations>["operations"][number];

const propose = (id: string, lr = 0.5): Operation => ({
  id,
  operation: { case: "propose", value: { hyperparameters: { lr }, stopAtTarget: false } },
});
const finish: Operation = {
  id: "end",
  operation: { case: "finish", value: { failed: false, reason: "", letTrialsEnd: false } },
};

async function post(
  request: Partial<Plain<PostSearchOperations>>,
  commitId: string = newEventId(),
): Promise<CommandReply> {
  const quiet = pino({ enabled: false });
  const handler = commandHandlers("searcher", commandTable(stage.executor), quiet)[
    "PostSearchOperations"
  ];
  if (handler === undefined) throw new Error("there is no such command");
  const body = encodeRequest("searcher", "PostSearchOperations", {
    experiment: "12",
    operations: [],
    ...request,
  });
  const headers = { commitId, authid: "u1", traceparent: "", correlationid: "" };
  return handler({ headers, body, isLate: () => false });
}

function answer(reply: CommandReply) {
  if (reply.kind !== "ok") throw new Error(JSON.stringify(reply));
  return decodeReply("searcher", "PostSearchOperations", reply.body);
}

function rejection(reply: CommandReply) {
  return reply.kind === "rejected"
    ? readRejected(reply.body)
    : { rejected: reply.kind, detail: "" };
}

describe("PostSearchOperations", () => {
  test("commits the posted operations together with the resulting decisions", async () => {
    const reply = answer(await post({ operations: [propose("a"), propose("b", 0.1)] }));
    expect(await stage.names("search-12")).toEqual([
      "SearchStarted",
      "OperationsPosted",
      "TrialProposed",
      "TrialProposed",
    ]);
    expect(reply).toEqual({
      position: expect.any(Number),
      version: 4,
      results: [
        { id: "a", trial: 1, version: 2 },
        { id: "b", trial: 2, version: 2 },
      ],
    });
    expect(reply.position).toBeGreaterThan(0);
  });

  test("changes nothing on a repeat, whether under the same commit id, another one, or a new leader", async () => {
    const commitId = newEventId();
    const first = answer(await post({ operations: [propose("a")] }, commitId));
    const before = await stage.names("search-12");
    const again = { ...first, position: 0 };
    expect(answer(await post({ operations: [propose("a")] }))).toEqual(again);
    stage.afresh();
    expect(answer(await post({ operations: [propose("a")] }, commitId))).toEqual(again);
    expect(await stage.names("search-12")).toEqual(before);
  });

  test("refuses the whole batch for one invalid operation, and names its place", async () => {
    const reply = rejection(await post({ operations: [propose("a"), propose("b", 2)] }));
    expect(reply).toMatchObject({
      rejected: "invalid_hyperparameters",
      detail: 'operation "b": hyperparameters.lr must be between 0 and 1, not 2',
      problems: [{ path: "operations[1].propose.hyperparameters.lr" }],
    });
    expect(await stage.names("search-12")).toEqual(["SearchStarted"]);
  });

  test("is refused for an unknown experiment or search, another kind of search, or an outdated version", async () => {
    const code = async (request: Partial<Plain<PostSearchOperations>>) =>
      rejection(await post({ operations: [propose("a")], ...request })).rejected;
    expect(await code({ experiment: "none" })).toBe("experiment_not_found");
    expect(await code({ experiment: "13" })).toBe("search_unknown");
    await stage.tell("experiment-14", experimentCreated());
    await stage.settle();
    expect(await code({ experiment: "14" })).toBe("search_not_custom");
    expect(await code({ restsOn: 9 })).toBe("search_moved_on");
    expect(await code({ restsOn: 1 })).toBe("ok");
  });

  test("completes the search after its client finished it and its trials have ended", async () => {
    answer(await post({ operations: [propose("a")] }));
    await stage.tell("trial-12.1", trialEnded(TrialOutcome.FAILED));
    await stage.settle();
    expect((await stage.names("search-12")).at(-1)).toBe("TrialOutcomeRecorded");
    answer(await post({ operations: [finish] }));
    expect((await stage.names("search-12")).at(-1)).toBe("SearchCompleted");
  });
});
