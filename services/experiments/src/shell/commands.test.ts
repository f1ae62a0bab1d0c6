import type { CommandReply } from "@trainyard/bus";
import { StopKind } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import { commandHandlers, decodeReply, encodeRequest, readRejected } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { pino } from "pino";
import { beforeEach, describe, expect, test } from "vitest";
import { exampleConfig, examplePlace } from "../testing/examples.ts";
import { commandTable } from "./commands.ts";
import { memoryIds } from "../testing/memory-ids.ts";
import type { ExperimentIds } from "./experiment-ids.ts";

const quiet = pino({ enabled: false });
const creation = {
  config: exampleConfig,
  configSourceDigest: "c0",
  contextDigest: "c1",
  contextBytes: 10,
  submissionDigest: "",
  tokenId: "",
  contextDeletions: 0,
  submissionDeletions: 0,
  seed: 7,
  owner: "u1",
  paused: false,
  place: examplePlace,
};

let stage: Stage;
let ids: ExperimentIds;

beforeEach(() => {
  stage = new Stage("experiments", () => ({}));
  ids = memoryIds();
});

async function send(
  name: string,
  body: Uint8Array,
  commitId: string = newEventId(),
): Promise<CommandReply> {
  const grace = { clock: systemClock, deletionGraceMs: 60_000 };
  const table = commandTable(stage.executor, ids, grace);
  const handler = commandHandlers("experiments", table, quiet)[name];
  if (handler === undefined) throw new Error(`${name} is not a command`);
  const headers = { commitId, authid: "u1", traceparent: "", correlationid: "" };
  return handler({ headers, body, isLate: () => false });
}

type Creation = typeof creation & {
  readonly parent: { readonly experiment: string; readonly position: string };
};

const create = (commitId?: string, overrides: Partial<Creation> = {}) =>
  send(
    "CreateExperiment",
    encodeRequest("experiments", "CreateExperiment", { ...creation, ...overrides }),
    commitId,
  );

function rejection({ kind, ...reply }: CommandReply): string {
  return kind === "rejected" && "body" in reply ? readRejected(reply.body).rejected : kind;
}

function acceptedStream(reply: CommandReply): string {
  return reply.kind === "ok"
    ? decodeReply("experiments", "CreateExperiment", reply.body).stream
    : reply.kind;
}

describe("CreateExperiment", () => {
  test("creates and activates an experiment under the next number, with the settings of its configuration", async () => {
    expect(acceptedStream(await create())).toBe("experiment-1");
    expect(acceptedStream(await create())).toBe("experiment-2");
    expect(await stage.stream("experiment-1")).toMatchObject([
      {
        type: "ExperimentCreated",
        data: { name: "iris", labels: ["demo"], workspace: "default", owner: "u1", seed: 7 },
      },
      { type: "ExperimentActivated" },
    ]);
    const [event] = await stage.log.read("experiment-1", 0, 1);
    expect(event?.meta).toMatchObject({ workspace: "default", authid: "u1" });
  });

  test("creates a paused experiment", async () => {
    await create(undefined, { paused: true });
    expect(await stage.names("experiment-1")).toEqual(["ExperimentCreated"]);
  });

  test("answers a repeat with the first number and writes nothing", async () => {
    const commitId = newEventId();
    expect(acceptedStream(await create(commitId))).toBe("experiment-1");
    expect(acceptedStream(await create(commitId))).toBe("experiment-1");
    stage.afresh();
    expect(acceptedStream(await create(commitId))).toBe("experiment-1");
    expect(await stage.log.head()).toBe(2);
  });

  test("throws a retryable fault if no number can be drawn", async () => {
    const fault = new Fault("ids_unavailable", "away", { retry: "later" });
    ids = { ...memoryIds(), next: () => Promise.reject(fault) };
    expect((await create()).kind).toBe("unavailable");
  });

  test("records the experiment that a fork comes from, and refuses an unknown one", async () => {
    await create();
    const parent = { experiment: "1", position: "2" };
    expect(acceptedStream(await create(undefined, { parent }))).toBe("experiment-2");
    const [event] = await stage.stream("experiment-2");
    expect(event).toMatchObject({ type: "ExperimentCreated", data: { parent } });
    for (const experiment of ["7", "x"]) {
      const unknown = { ...parent, experiment };
      expect(rejection(await create(undefined, { parent: unknown }))).toBe("experiment_not_found");
    }
    expect(await stage.names("experiment-3")).toEqual([]);
  });

  test.each(["config", "place"])("refuses a request without its %s", async (key) => {
    const without = { ...creation, [key]: undefined };
    const reply = await send(
      "CreateExperiment",
      encodeRequest("experiments", "CreateExperiment", without),
    );
    expect(rejection(reply)).toBe("invalid_request");
  });
});

describe("ActOnExperiments", () => {
  type Asked = {
    readonly ids: readonly string[];
    readonly verb: string;
    readonly dryRun?: boolean;
    readonly commitId?: string;
  };
  async function act({ ids, verb, dryRun = false, commitId }: Asked) {
    const request = { experiments: [...ids], verb, reason: "", dryRun };
    const reply = await send(
      "ActOnExperiments",
      encodeRequest("experiments", "ActOnExperiments", request),
      commitId,
    );
    if (reply.kind !== "ok") return rejection(reply);
    const { items } = decodeReply("experiments", "ActOnExperiments", reply.body);
    return items.map(({ experiment, changed, code }) => [experiment, changed, code]);
  }
  const stopped = async (id: string) =>
    (await stage.names(`experiment-${id}`)).includes("ExperimentStopRequested");

  test("applies a verb to exactly the named experiments, and reports the outcome for each", async () => {
    for (let n = 0; n < 4; n += 1) await create();
    await send(
      "StopExperiment",
      encodeRequest("experiments", "StopExperiment", {
        experiment: "2",
        kind: StopKind.KILL,
        reason: "",
      }),
    );
    const outcomes = [
      ["3", true, ""],
      ["2", false, ""],
      ["9", false, "experiment_not_found"],
      ["x", false, "experiment_not_found"],
      ["1", true, ""],
    ];
    const ids = ["3", "2", "9", "x", "1"];
    expect(await act({ ids, verb: "kill", dryRun: true })).toEqual(outcomes);
    expect(await stopped("3")).toBe(false);
    expect(await act({ ids, verb: "kill" })).toEqual(outcomes);
    expect(await Promise.all(["1", "2", "3", "4"].map(stopped))).toEqual([true, true, true, false]);
    expect(await act({ ids: ["1"], verb: "archive" })).toEqual([
      ["1", false, "experiment_not_ended"],
    ]);
  });

  test("changes nothing on a repeat, and reports the changes of the first attempt", async () => {
    await create();
    await create(undefined, { paused: true });
    const commitId = newEventId();
    const ids = ["1", "2"];
    const first = [
      ["1", true, ""],
      ["2", false, ""],
    ];
    expect(await act({ ids, verb: "pause", commitId })).toEqual(first);
    await send(
      "ActivateExperiment",
      encodeRequest("experiments", "ActivateExperiment", { experiment: "2" }),
    );
    expect(await act({ ids, verb: "pause", commitId })).toEqual(first);
    expect((await stage.names("experiment-2")).at(-1)).toBe("ExperimentActivated");
  });

  test("refuses an unknown verb, a repeated id and too many ids", async () => {
    await create();
    const many = Array.from({ length: 257 }, (_, n) => `${n + 1}`);
    for (const asked of [
      { ids: ["1"], verb: "destroy" },
      { ids: ["1"], verb: "toString" },
      { ids: ["1", "1"], verb: "kill" },
      { ids: many, verb: "kill" },
    ]) {
      expect(await act(asked)).toBe("invalid_request");
    }
    expect(await stopped("1")).toBe(false);
  });
});

describe("a command to one experiment", () => {
  const pause = (experiment: string) =>
    send("PauseExperiment", encodeRequest("experiments", "PauseExperiment", { experiment }));
  const activate = (experiment: string) =>
    send("ActivateExperiment", encodeRequest("experiments", "ActivateExperiment", { experiment }));
  const stop = (experiment: string, kind: StopKind) =>
    send(
      "StopExperiment",
      encodeRequest("experiments", "StopExperiment", { experiment, kind, reason: "" }),
    );

  test("pauses, activates or stops it", async () => {
    await create();
    expect(acceptedStream(await pause("1"))).toBe("experiment-1");
    await activate("1");
    await stop("1", StopKind.KILL);
    expect((await stage.names("experiment-1")).slice(2)).toEqual([
      "ExperimentPaused",
      "ExperimentActivated",
      "ExperimentStopRequested",
    ]);
  });

  test("without an effect is accepted and writes nothing", async () => {
    await create();
    const reply = await activate("1");
    expect(
      reply.kind === "ok" && decodeReply("experiments", "ActivateExperiment", reply.body),
    ).toEqual({
      position: 0,
      stream: "",
    });
  });

  test("that does not exist is answered with experiment_not_found", async () => {
    expect(rejection(await pause("1"))).toBe("experiment_not_found");
    expect(rejection(await pause("not a number"))).toBe("experiment_not_found");
    expect(rejection(await stop("7", StopKind.CANCEL))).toBe("experiment_not_found");
  });

  test("that is a stop without a kind is refused", async () => {
    await create();
    expect(rejection(await stop("1", StopKind.UNSPECIFIED))).toBe("invalid_request");
  });
});
