/** Tests of forks of experiments, with a simulated experiments service. */

import { randomUUID } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AnyEvent, Plain } from "@trainyard/contracts";
import type { CreateExperiment } from "@trainyard/contracts/commands";
import { isRejection } from "@trainyard/kernel";
import { acceptExperiment } from "@trainyard/search";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { created } from "../../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../../testing/test-gateway.ts";

let gateway: TestGateway;
let service: AsyncDisposable;
let asked: Plain<CreateExperiment>[] = [];
const [own, foreign, damaged] = [randomUUID(), randomUUID(), randomUUID()];

const checkpoint = (trial: string): readonly AnyEvent[] => [
  { type: "CheckpointDeclared", data: { trial, run: 1, step: 1, format: "" } },
  {
    type: "CheckpointCompleted",
    data: { manifestDigest: "d", files: 1, bytes: 1, trial, run: 1, step: 1 },
  },
];

/** Returns a configuration as the platform records it. */
function recorded() {
  const document = {
    name: "iris",
    labels: ["a"],
    entrypoint: "python3 train.py",
    hyperparameters: { lr: 0.5, layers: [1, ""] },
    searcher: { name: "random", metric: "loss", max_trials: 3 },
    resources: { slots_per_trial: 0, constraints: { prefer: { fast: true } } },
    reproducibility: { experiment_seed: 77 },
  };
  const defaults = { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } };
  const parsed = acceptExperiment(JSON.stringify(document), { defaults });
  if (isRejection(parsed)) throw new Error(parsed.detail);
  return parsed.config;
}

beforeAll(async () => {
  gateway = await startTestGateway();
  service = await gateway.serving("experiments", {
    CreateExperiment: async (request) => {
      asked.push(request);
      const { config = {}, parent, paused: _paused, ...given } = request;
      const stream = `experiment-${100 + asked.length}`;
      const made = created({ ...given, config, ...(parent === undefined ? {} : { parent }) });
      return { position: await gateway.append(stream, made), stream };
    },
  });
  const code = { contextDigest: "c0de", contextBytes: 9 };
  await mkdir(join(gateway.blobDir, "contexts"));
  await writeFile(join(gateway.blobDir, "contexts/c0de.tar.gz"), "code");
  await gateway.append("experiment-1", created({ ...code, config: recorded(), seed: 77 }));
  await gateway.append(`checkpoint-${own}`, ...checkpoint("1.1"));
  await gateway.append(`checkpoint-${foreign}`, ...checkpoint("2.1"));
  const problems = [{ path: "w", kind: "missing", detail: "is missing" }];
  const position = await gateway.append(`checkpoint-${damaged}`, ...checkpoint("1.1"), {
    type: "CheckpointDamaged",
    data: { problems, count: 1, by: "ada" },
  });
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
});
afterAll(async () => {
  await service?.[Symbol.asyncDispose]();
  await gateway?.[Symbol.asyncDispose]();
});
beforeEach(() => {
  asked = [];
});

const fork = (body: object, experiment = "1") =>
  gateway.call("POST", `/api/v1/experiments/${experiment}/fork`, { body });

test("a fork without changes has the configuration, the seed and the code of its experiment", async () => {
  const answer = await fork({});
  expect(answer).toMatchObject({ status: 200, body: { experiment: { parent: "1", seed: 77 } } });
  expect(asked).toMatchObject([
    {
      contextDigest: "c0de",
      contextBytes: 9,
      seed: 77,
      paused: false,
      parent: { experiment: "1" },
    },
  ]);
  expect(asked[0]?.config).toEqual(JSON.parse(JSON.stringify(recorded())));
});

test("a fork changes the keys of its overrides, and keeps the others", async () => {
  const overrides = ["hyperparameters.lr=0.1", "name=second", "reproducibility.experiment_seed=5"];
  expect((await fork({ overrides, paused: true })).status).toBe(200);
  const { hyperparameters } = recorded();
  expect(asked).toMatchObject([
    { seed: 5, paused: true, config: { name: "second", labels: ["a"] } },
  ]);
  const lr = { type: "const", val: 0.1 };
  expect(asked[0]?.config?.["hyperparameters"]).toEqual({ ...hyperparameters, lr });
});

test("a fork with another configuration has the code of its experiment, and a new seed", async () => {
  const config =
    "{name: other, entrypoint: a b, searcher: {name: single, metric: loss}, resources: {slots_per_trial: 0}}";
  expect((await fork({ config })).status).toBe(200);
  expect(asked).toMatchObject([{ contextDigest: "c0de", config: { name: "other" } }]);
  expect(asked[0]?.seed).not.toBe(77);
});

test("a fork from a checkpoint names it in its configuration, which keeps the checkpoint", async () => {
  expect((await fork({ checkpoint: own })).status).toBe(200);
  expect(asked).toMatchObject([
    { config: { searcher: { source_trial_id: "1.1", source_checkpoint_uuid: own } } },
  ]);
});

test.each<[string, object, number, string]>([
  ["a checkpoint of another experiment", { checkpoint: foreign }, 409, "foreign_checkpoint"],
  ["an unknown checkpoint", { checkpoint: randomUUID() }, 404, "checkpoint_not_found"],
  ["an invalid checkpoint id", { checkpoint: "../x" }, 404, "checkpoint_not_found"],
  ["a damaged checkpoint", { checkpoint: damaged }, 400, "invalid_config"],
  ["an unknown searcher", { overrides: ["searcher.name=magic"] }, 400, "invalid_config"],
  ["an override without a value", { overrides: ["searcher"] }, 400, "invalid_config"],
  ["an unreadable configuration", { config: "[" }, 400, "invalid_config"],
])("a fork with %s is refused, and creates nothing", async (_what, body, status, code) => {
  expect(await fork(body)).toMatchObject({ status, body: { code } });
  expect(asked).toEqual([]);
});

test("a fork of an unknown experiment is refused", async () => {
  for (const id of ["9", "none"]) {
    const answer = await fork({}, id);
    expect(answer).toMatchObject({ status: 404, body: { code: "experiment_not_found" } });
  }
});

test("a fork with validateOnly creates no experiment", async () => {
  expect((await fork({ validateOnly: true })).status).toBe(200);
  expect(asked).toEqual([]);
});

test("a fork by another token than the experiment's gets none of its secrets", async () => {
  const environment = { environment_variables: ["AWS_SECRET_ACCESS_KEY=hunter2", "LANG=C"] };
  const [tokenId = ""] = /(?<=^ty_)[0-9a-f]{16}/.exec(gateway.token) ?? [];
  const made = created({
    ...{ contextDigest: "c0de", contextBytes: 9, tokenId },
    config: { ...recorded(), environment },
  });
  const position = await gateway.append("experiment-60", made);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  expect((await fork({}, "60")).status).toBe(200);
  expect(JSON.stringify(asked[0]?.config)).toContain("AWS_SECRET_ACCESS_KEY=hunter2");
  expect(asked[0]?.tokenId).toBe(tokenId);

  const { body: other } = await gateway.call("POST", "/api/v1/tokens", { body: { label: "ci" } });
  const { id } = other["token"] as { id: string };
  const token = String(other["secret"]);
  const byOther = (body: object) =>
    gateway.call("POST", "/api/v1/experiments/60/fork", { body, token });
  const refused = await byOther({ overrides: ["entrypoint=env"] });
  expect(refused).toMatchObject({ status: 400, body: { code: "masked_value" } });
  expect(JSON.stringify(refused.body)).toContain("AWS_SECRET_ACCESS_KEY");
  const replaced = 'environment.environment_variables=["AWS_SECRET_ACCESS_KEY=mine"]';
  expect((await byOther({ overrides: [replaced] })).status).toBe(200);
  expect(asked[1]?.tokenId).toBe(id);
  expect(JSON.stringify(asked[1]?.config)).not.toContain("hunter2");
});

test("a repeated fork with the same Idempotency-Key creates one experiment", async () => {
  const headers = { "idempotency-key": "one-fork" };
  const path = "/api/v1/experiments/1/fork";
  const first = await gateway.call("POST", path, { body: {}, headers });
  expect((await gateway.call("POST", path, { body: {}, headers })).body).toEqual(first.body);
  expect(asked).toHaveLength(1);
});

test("a fork of an experiment whose code is not stored is refused", async () => {
  const lost = created({ contextDigest: "1057", contextBytes: 9, config: recorded() });
  const position = await gateway.append("experiment-50", lost);
  await gateway.call("GET", `/api/v1/experiments?minPosition=${position}`);
  const answer = await gateway.call("POST", "/api/v1/experiments/50/fork", { body: {} });
  expect(answer).toMatchObject({ status: 409, body: { code: "context_not_found" } });
  expect(asked).toEqual([]);
});
