import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { startTestGateway, type TestGateway } from "../testing/test-gateway.ts";

let gateway: TestGateway;

beforeAll(async () => {
  gateway = await startTestGateway();
  await gateway.append("experiment-1", created({}));
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
});

afterAll(() => gateway[Symbol.asyncDispose]());

test.each([
  ["the marker of a number", { x: { $double: { valueOf: 1, toString: 1 } } }],
  ["a number's own marker", { $double: "NaN", nested: [{ $double: "-0" }] }],
  ["characters that PostgreSQL's JSON refuses", { "\0": "\ud800", y: "\\u0000 \\" }],
  ["a prototype", JSON.parse('{"__proto__": {"$double": 1}}')],
])(
  "a checkpoint whose metadata hold %s is read, listed and folded further",
  async (_, metadata) => {
    const id = randomUUID();
    const declared = { trial: "1.1", run: 1, step: 1, metadata, format: "" };
    await gateway.append(`checkpoint-${id}`, { type: "CheckpointDeclared", data: declared });
    const position = await gateway.append(`checkpoint-${id}`, {
      type: "CheckpointFailed",
      data: { reason: "a test" },
    });
    const read = await gateway.call(
      "GET",
      `/api/v1/trials/1.1/checkpoints?minPosition=${position}`,
    );
    expect(read.status).toBe(200);
    const items = read.body["items"] as { uuid: string; state: string; metadata: object }[];
    expect(items.find(({ uuid }) => uuid === id)).toMatchObject({ state: "ERROR", metadata });
    expect((await gateway.call("GET", `/api/v1/checkpoints/${id}`)).body).toMatchObject({
      metadata,
    });
  },
);
