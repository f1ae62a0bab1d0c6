/** Tests of the commands about models, with a simulated gateway. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway, problem } from "../testing/played-gateway.ts";

const iris = {
  name: "iris",
  description: "of flowers",
  labels: ["prod"],
  metadata: { task: "classify" },
  versions: 2,
  latestNumber: 3,
  aliases: { champion: 3, backup: 1 },
  createdBy: "ada",
};
const version = (number: number, loss: number) => ({
  model: "iris",
  number,
  semanticVersion: number === 3 ? "1.0.0" : "",
  aliases: number === 3 ? ["champion"] : [],
  checkpoint: `checkpoint-${number}`,
  experiment: "1",
  trial: `1.${number}`,
  run: 1,
  stepsCompleted: 10,
  metrics: { loss, accuracy: 0.5, batches: loss * 100, epochs: loss, progress: loss },
  hyperparameters: { lr: 0.1, optimizer: { name: "adam" } },
  searcherMetric: "loss",
  registeredBy: "ada",
  state: "REGISTERED",
});

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(({ call }) => {
    const [verb = "", path = ""] = call.replace(/\?.*/, "").split(" ");
    if (verb !== "GET") return { body: { position: "7", version: version(3, 0.25) } };
    if (path === "/api/v1/models") return { body: { items: [iris] } };
    if (path === "/api/v1/models/iris") return { body: iris };
    if (path === "/api/v1/models/iris/aliases") {
      return {
        body: { items: [{ alias: "champion", number: 3, fromNumber: 1, reason: "r", by: "ada" }] },
      };
    }
    if (path === "/api/v1/models/iris/versions/1") return { body: version(1, 0.5) };
    if (path === "/api/v1/models/iris/versions/champion") return { body: version(3, 0.25) };
    if (/versions(:best)?$/.test(path)) return { body: { items: [version(3, 0.25)] } };
    return problem(404, "model_not_found", "there is no model none");
  });
});
afterEach(() => gateway[Symbol.asyncDispose]());

/** Returns the requests that change something, as the gateway received them. */
function changes(): readonly (readonly [string, unknown])[] {
  const changing = gateway.requests.filter(({ call }) => !call.startsWith("GET"));
  expect(changing.every(({ idempotencyKey }) => idempotencyKey !== undefined)).toBe(true);
  return changing.map(({ call, body }) => [call, body]);
}

test("a model is created, changed and archived", async () => {
  const words = ["--label", "a", "--label", "b", "--metadata", "task=x", "--metadata", 'n={"a":1}'];
  expect(await gateway.yard("model", "create", "iris", "--notes", "n", ...words)).toMatchObject({
    code: 0,
    lines: ["model iris is created"],
  });
  await gateway.yard("model", "label", "iris", "--label", "c", "--remove-label", "a");
  await gateway.yard("model", "label", "iris", "champion", "--metadata", "old=null");
  await gateway.yard("model", "archive", "iris", "--reason", "replaced");
  await gateway.yard("model", "unarchive", "iris");
  const metadata = { task: "x", n: { a: 1 } };
  expect(changes()).toEqual([
    ["POST /api/v1/models", { name: "iris", notes: "n", labels: ["a", "b"], metadata }],
    ["PATCH /api/v1/models/iris", { addLabels: ["c"], removeLabels: ["a"] }],
    ["PATCH /api/v1/models/iris/versions/champion", { metadata: { old: null } }],
    ["POST /api/v1/models/iris/archive", { reason: "replaced" }],
    ["POST /api/v1/models/iris/unarchive", {}],
  ]);
});

test("a version is registered, promoted and removed", async () => {
  expect(
    await gateway.yard("model", "register", "iris", "abc", "--semver", "1.0.0", "--create"),
  ).toMatchObject({ code: 0, lines: ["checkpoint abc is version 3 of iris"] });
  expect(
    await gateway.yard("model", "promote", "iris", "3", "--reason", "lower loss"),
  ).toMatchObject({ lines: ["champion of model iris is version 3"] });
  await gateway.yard("model", "alias", "iris", "backup", "champion");
  await gateway.yard("model", "unalias", "iris", "backup", "--reason", "old");
  await gateway.yard("model", "remove-version", "iris", "3", "--reason", "bad one");
  expect(changes()).toEqual([
    [
      "POST /api/v1/models/iris/versions",
      { checkpoint: "abc", semanticVersion: "1.0.0", createModel: true },
    ],
    ["PUT /api/v1/models/iris/aliases/champion", { version: "3", reason: "lower loss" }],
    ["PUT /api/v1/models/iris/aliases/backup", { version: "champion" }],
    ["DELETE /api/v1/models/iris/aliases/backup?reason=old", null],
    ["DELETE /api/v1/models/iris/versions/3?reason=bad+one", null],
  ]);
});

test("wrong usage of the model commands changes nothing", async () => {
  const refused = async (...args: readonly string[]) => {
    const { code, err } = await gateway.yard("model", ...args);
    expect(code).toBe(2);
    return err;
  };
  expect(await refused("promote", "iris", "3")).toContain("--reason");
  expect(await refused("label", "iris")).toContain("Give at least one option");
  expect(await refused("create", "x", "--metadata", "=1")).toContain("--metadata takes name=value");
  expect(await refused("compare", "iris", "1")).toContain("at least two versions");
  expect(await refused("best", "iris", "loss", "--order", "least")).toContain("min, max");
  expect(await refused("describe", "none")).toBe("There is no model none.\n");
  expect(changes()).toEqual([]);
});

test("models, versions and the history of aliases are listed", async () => {
  expect((await gateway.yard("model", "list")).lines).toEqual([
    "MODEL VERSIONS ALIASES LABELS CHANGED DESCRIPTION",
    "iris 2 backup=1, champion=3 prod 1970-01-01 00:00:00 of flowers",
  ]);
  const where = ["--where", "metrics.loss<0.5", "--where", "label=prod"];
  expect((await gateway.yard("model", "versions", "iris", ...where)).lines[1]).toBe(
    "3 1.0.0 champion checkpoint-3 1.3 10 loss=0.25 1970-01-01 00:00:00",
  );
  expect(gateway.requests.at(-1)?.call).toContain("where=metrics.loss%3C0.5&where=label%3Dprod");
  const best = await gateway.yard("model", "best", "iris", "accuracy", "--order", "max");
  expect(best.lines[1]).toMatch(/^0\.5 3 1\.0\.0 champion/);
  expect((await gateway.yard("model", "aliases", "iris")).lines).toEqual([
    "ALIAS FROM TO AT BY REASON",
    "champion 1 3 1970-01-01 00:00:00 ada r",
  ]);
});

test("a version is described with its origin, and compared with another version", async () => {
  const { lines } = await gateway.yard("model", "describe", "iris", "champion");
  expect(lines).toContain("trial 1.3");
  expect(lines).toContain('metrics {"loss":0.25,"accuracy":0.5}');
  expect(lines).toContain('hyperparameters {"lr":0.1,"optimizer":{"name":"adam"}}');
  expect((await gateway.yard("model", "compare", "iris", "1", "champion")).lines).toEqual([
    "VERSION 1 VERSION 3",
    "semantic version 1.0.0",
    "aliases champion",
    "metrics.loss 0.5 0.25",
    "trial 1.1 1.3",
    "checkpoint checkpoint-1 checkpoint-3",
  ]);
});
