import { expect, test } from "vitest";
import { created, requested, trialCreated } from "../testing/example-events.ts";
import { GrpcConnection } from "../testing/grpc-call.ts";
import { bearer, bytesOf, methodOf, routes } from "../testing/grpc-routes.ts";
import { startTestGateway } from "../testing/test-gateway.ts";

const streams = [
  "WatchEvents",
  "Watch",
  "WatchSearchEvents",
  "FollowExperimentLogs",
  "FollowTrialLogs",
  "FollowMetrics",
  "FollowTrialMetrics",
];

test("an open stream over gRPC ends with its token, and says so", async () => {
  await using gateway = await startTestGateway();
  using connection = new GrpcConnection(gateway.grpcUrl);
  await using _logs = await gateway.serving("logs", {
    QueryLines: async () => ({ lines: [], next: "", more: false }) as never,
  });
  await using _metrics = await gateway.serving("metrics", {
    QueryStreamedPoints: async () => ({ items: [], next: 0, more: false }) as never,
  });
  await gateway.append("experiment-1", created({}));
  const position = await gateway.append("trial-1.1", trialCreated(1), requested(1, 0));
  await gateway.call("GET", `/api/v1/experiments/1?minPosition=${position}`);
  const { body } = await gateway.call("POST", "/api/v1/tokens", { body: {} });
  const headers = bearer(String(body["secret"]));
  const ids: Readonly<Record<string, string>> = { experiment: "1", trial: "1.1" };
  const ends = streams.map(async (name) => {
    const route = routes.find((one) => one.name === name);
    if (route === undefined) return `${name} is not served`;
    const path = Object.fromEntries(route.pathFields.map((field) => [field, ids[field]]));
    const fields = name === "Watch" ? { topics: [{ kind: "experiments" }] } : path;
    const sent = { messages: [bytesOf(route.request, fields)], headers, untilMs: 60_000 };
    const { code, metadata } = await connection.call(methodOf(route), sent);
    return `${name} ${code} ${metadata["trainyard-code"]}`;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  const early = await Promise.race([...ends, Promise.resolve("open")]);
  expect(early).toBe("open");
  await gateway.call("DELETE", `/api/v1/tokens/${(body["token"] as { id: string }).id}`);
  expect(await Promise.all(ends)).toEqual(streams.map((name) => `${name} 16 no_token`));
});
