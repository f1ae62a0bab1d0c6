/** Tests of the commands that change a retention policy and describe a checkpoint, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway } from "../testing/played-gateway.ts";

/** The API lists no files of a checkpoint that is to be deleted. */
const given = {
  uuid: "fb5c04d2-8be5-409d-9327-437151f79f02",
  ...{ trial: "5.2", run: 1, stepsCompleted: 10, state: "CONDEMNED", files: 2, bytes: "30" },
};
/** Nor does it to a colleague who may not read the files of a task's save. */
const save = {
  ...{ uuid: "0e6c04d2-8be5-409d-9327-437151f79f02", task: "t1", state: "COMPLETED" },
  ...{ run: 1, files: 2, bytes: "30" },
};
let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    if (call.endsWith(`/checkpoints/${given.uuid}`)) return { body: given };
    if (call.endsWith(`/checkpoints/${save.uuid}`)) return { body: save };
    if (!call.startsWith("GET")) return { body: { position: "7" } };
    return { body: { items: [], policy: { saveExperimentBest: 1, saveTrialLatest: 3 } } };
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

test("checkpoint gc changes the settings that are given, and keeps the others", async () => {
  const settings = ["--save-trial-best", "2", "--save-experiment-best", "0", "--reason", "disk"];
  expect(await gateway.yard("checkpoint", "gc", "1", ...settings)).toMatchObject({ code: 0 });
  const changes = gateway.requests.filter(({ call }) => !call.startsWith("GET"));
  expect(changes.map(({ call, body }) => [call, body])).toEqual([
    [
      "POST /api/v1/experiments/1/retention",
      { reason: "disk", saveTrialBest: 2, saveTrialLatest: 3 },
    ],
  ]);
});

test("checkpoint gc without settings exits with 2 and changes nothing", async () => {
  const { code, err } = await gateway.yard("checkpoint", "gc", "1");
  expect(code).toBe(2);
  expect(err).toContain("Give --preview, or what to keep");
  expect(gateway.requests).toEqual([]);
});

test("a setting of checkpoint gc that is not a number is refused with its option", async () => {
  const { code, err } = await gateway.yard("checkpoint", "gc", "1", "--save-trial-latest", "all");
  expect(code).toBe(2);
  expect(err).toContain("--save-trial-latest takes a whole number");
});

test("checkpoint describe counts the files that it does not list", async () => {
  const { lines } = await gateway.yard("checkpoint", "describe", given.uuid);
  expect(lines).toContain("state TO BE DELETED");
  expect(lines.at(-1)).toBe(
    "files 2, with 30 bytes; they are listed while the checkpoint is complete",
  );
});

test("checkpoint describe names those who read the files of a task's save that it does not list", async () => {
  const { lines } = await gateway.yard("checkpoint", "describe", save.uuid);
  expect(lines).toContain("state COMPLETED");
  expect(lines.at(-1)).toBe(
    "files 2, with 30 bytes; its owner reads them, and those with task_control in the workspace",
  );
});
