import { ExperimentOutcome, StopKind } from "@trainyard/contracts/events";
import { newEventId } from "@trainyard/event-log";
import { idOf } from "@trainyard/kernel";
import type { Service } from "@trainyard/runtime";
import { DatabaseStage } from "@trainyard/runtime/database-stage";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import {
  exampleConfig,
  examplePlace,
  experimentCreated,
  trialProposed,
} from "./testing/examples.ts";
import { createService } from "./service.ts";

let stage: DatabaseStage;
let service: Service;

beforeAll(async () => {
  stage = await DatabaseStage.start("experiments");
  service = await start();
});

afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await stage?.[Symbol.asyncDispose]();
});

async function start(): Promise<Service> {
  const created = await createService(parseConfig(stage.variables), {
    bus: stage.hub.connect("experiments"),
  });
  await created.start();
  return created;
}

async function create(paused: boolean, commitId = newEventId()): Promise<string> {
  const { configSourceDigest, contextDigest, contextBytes, seed, owner } = experimentCreated().data;
  const about = { configSourceDigest, contextDigest, contextBytes, seed, owner, paused };
  const submission = { submissionDigest: "", tokenId: "", submissionDeletions: 0 };
  const request = { ...about, ...submission, contextDeletions: 0 };
  const config = exampleConfig;
  const whole = { ...request, config, place: examplePlace };
  const create = () => stage.ask("experiments", "CreateExperiment", whole, commitId);
  // The service answers only once it holds the lease.
  const answer = await expect
    .poll(() => create().catch(() => null))
    .toMatchObject({ kind: "ok" })
    .then(create);
  if (answer.kind !== "ok") throw new Error(`refused: ${JSON.stringify(answer)}`);
  return idOf(answer.reply.stream);
}

async function types(stream: string): Promise<readonly string[]> {
  return (await stage.events(stream)).map(({ type }) => type);
}

test("a created experiment gets a number and its trials get runs, with the service's database role and schema", async () => {
  const id = await create(false);
  await stage.tell(`search-${id}`, trialProposed());
  await expect.poll(() => types(`trial-${id}.1`)).toEqual(["TrialCreated", "RunRequested"]);
  expect(await types(`experiment-${id}`)).toEqual(["ExperimentCreated", "ExperimentActivated"]);
});

test("a repeated create command returns the first experiment", async () => {
  const commitId = newEventId();
  expect(await create(true, commitId)).toBe(await create(true, commitId));
});

test("requests made while the service was down are handled when it is back", async () => {
  const id = await create(true);
  await stage.ask("experiments", "ActivateExperiment", { experiment: id });
  await service[Symbol.asyncDispose]();
  await stage.tell(`search-${id}`, trialProposed());
  service = await start();
  await expect.poll(() => types(`trial-${id}.1`)).toEqual(["TrialCreated", "RunRequested"]);
});

test("an experiment that is killed before it has trials ends at once", async () => {
  const id = await create(true);
  const kill = { experiment: id, kind: StopKind.KILL, reason: "" };
  await stage.ask("experiments", "StopExperiment", kill);
  await expect
    .poll(async () => (await stage.events(`experiment-${id}`)).at(-1))
    .toMatchObject({ type: "ExperimentEnded", data: { outcome: ExperimentOutcome.CANCELED } });
});

test("an unknown experiment is answered with experiment_not_found", async () => {
  const answer = await stage.ask("experiments", "ActivateExperiment", { experiment: "999999" });
  expect(answer).toMatchObject({
    kind: "rejected",
    rejection: { rejected: "experiment_not_found" },
  });
});
