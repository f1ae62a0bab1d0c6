/** Tests of labelling several experiments, on a log in memory. */
import { newEventId } from "@trainyard/event-log";
import { systemClock } from "@trainyard/kernel/system-clock";
import type { CommandFunctions } from "@trainyard/runtime";
import { Stage } from "@trainyard/runtime/stage";
import { beforeEach, expect, test } from "vitest";
import { exampleConfig, examplePlace } from "../testing/examples.ts";
import { limits } from "../limits.ts";
import { commandTable } from "./commands.ts";
import { memoryIds } from "../testing/memory-ids.ts";

let stage: Stage;
let ask: (name: string, request: object, commitId?: string) => Promise<object>;

const creation = {
  config: exampleConfig,
  configSourceDigest: "",
  contextDigest: "",
  contextBytes: 0,
  submissionDigest: "",
  tokenId: "",
  seed: 1,
  owner: "ada",
  paused: true,
  place: examplePlace,
};

beforeEach(async () => {
  stage = new Stage("experiments", () => ({}));
  const grace = { clock: systemClock, deletionGraceMs: 60_000 };
  const table: CommandFunctions = commandTable(stage.executor, memoryIds(), grace);
  ask = async (name, request, commitId = newEventId()) => {
    const meta = { source: "", workspace: "", correlationid: "", causationid: "", traceparent: "" };
    const identity = { commitId, meta: { ...meta, authid: "ada" } };
    const context = { identity, authid: "ada", throwIfLate: () => {} };
    const answer = await table[name]?.(request as never, context);
    return answer as object;
  };
  for (let n = 0; n < 3; n += 1) await ask("CreateExperiment", creation);
});

type Asked = {
  readonly add?: readonly string[];
  readonly remove?: readonly string[];
  readonly dryRun?: boolean;
  readonly commitId?: string;
};

const label = (experiments: readonly string[], asked: Asked) => {
  const { add = [], remove = [], dryRun = false, commitId } = asked;
  const request = { experiments, addLabels: [...add], removeLabels: [...remove], dryRun };
  return ask("LabelExperiments", request, commitId);
};
const labelsOf = async (id: string): Promise<unknown> =>
  (await stage.stream(`experiment-${id}`))
    .flatMap(({ type, data }) => (type === "ExperimentDescribed" ? [data] : []))
    .at(-1)?.labels;

test("labels are added to and removed from the named experiments only, and a preview writes nothing", async () => {
  const asked = { add: ["prod"], remove: ["demo"] };
  const outcomes = [{ changed: true }, { code: "experiment_not_found" }, { changed: true }];
  expect(await label(["1", "9", "3"], { ...asked, dryRun: true })).toMatchObject({
    position: 0,
    items: outcomes,
  });
  expect(await labelsOf("1")).toBeUndefined();
  expect(await label(["1", "9", "3"], asked)).toMatchObject({ items: outcomes });
  expect(await labelsOf("1")).toEqual(["prod"]);
  expect(await labelsOf("2")).toBeUndefined();
  expect(await label(["1"], asked)).toMatchObject({ items: [{ changed: false, code: "" }] });
});

test("an experiment with too many labels is refused, and the others are labelled", async () => {
  const most = Array.from({ length: limits.labelsMax }, (_, n) => `label-${n}`);
  await label(["1"], { add: most, remove: ["demo"] });
  expect(await label(["1", "2"], { add: ["prod"] })).toMatchObject({
    items: [{ changed: false, code: "invalid_request" }, { changed: true }],
  });
  expect(await labelsOf("2")).toEqual(["demo", "prod"]);
});

test("a repeated labelling reports the changes of the first attempt", async () => {
  const commitId = newEventId();
  const first = await label(["1", "2"], { add: ["prod"], commitId });
  await label(["2"], { remove: ["prod"] });
  expect(await label(["1", "2"], { add: ["prod"], commitId })).toEqual(first);
  expect(await labelsOf("2")).toEqual(["demo"]);
});

test("a labelling request without a label is refused", async () => {
  expect(await label(["1"], {})).toMatchObject({ rejected: "invalid_request" });
});
