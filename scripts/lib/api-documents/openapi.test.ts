import { expect, test } from "vitest";
import { ProblemSchema } from "@trainyard/contracts/api";
import { gatewayRoutes } from "@trainyard/contracts/routes";
import type { Protocol } from "../events-page/protocol.ts";
import { errorCodes } from "./codes.ts";
import { examples } from "./examples.ts";
import { openApi } from "./openapi.ts";

const none = new Map<string, never>();
const routes = gatewayRoutes();
const methods = new Map(
  routes.map(({ service, name }) => [`trainyard.api.v1.${service}.${name}`, `Does ${name}.`]),
);
const protocol: Protocol = {
  ...{ messages: none, enums: none, services: none, streams: none },
  methods,
};
const codes = { busy: [503] };
const made = (given: object = {}) =>
  openApi({
    version: "1.2.3",
    protocol,
    routes,
    problem: ProblemSchema,
    examples,
    codes,
    ...given,
  });

test("an operation has the comment and the example of its call", () => {
  const { paths } = made() as { paths: Record<string, Record<string, object>> };
  expect(paths["/api/v1/jobs/{job}/move"]?.["post"]).toMatchObject({
    operationId: "JobService_MoveJob",
    summary: "Move job",
    description: "Does MoveJob.",
    requestBody: {
      content: { "application/json": { example: { anchor: "2", ahead: true } } },
    },
  });
});

test("each operation has an id of its own, also those of a call with several paths", () => {
  const { paths } = made() as { paths: Record<string, Record<string, { operationId: string }>> };
  const ids = Object.values(paths).flatMap((path) =>
    Object.values(path).map(({ operationId }) => operationId),
  );
  expect(ids).toHaveLength(routes.length);
  expect(new Set(ids).size).toBe(routes.length);
});

test("a call without an example fails, and so does an example without a field of its path", () => {
  expect(() => made({ examples: { ...examples, moveJob: undefined } })).toThrow(
    "moveJob has no example",
  );
  expect(() => made({ examples: { ...examples, moveJob: { ahead: true } } })).toThrow(
    "the example of moveJob lacks job",
  );
});

test("a call without a comment fails", () => {
  const silent = new Map(methods).set("trainyard.api.v1.JobService.MoveJob", "");
  expect(() => made({ protocol: { ...protocol, methods: silent } })).toThrow(
    "JobService.MoveJob has no comment in proto/",
  );
});

test("codes come from problems and rejections, and a rejection has the status of the table, or 409", () => {
  const sources = [
    {
      path: "services/gateway/src/http/problem.ts",
      text: "const statusOfCode: Codes = {\n  pool_not_found: 404,\n};\n",
    },
    {
      path: "services/scheduler/src/core/pool.ts",
      text: 'reject("pool_in_use", d); reject(\n  "pool_not_found", d)',
    },
    { path: "libs/runtime/src/a.ts", text: 'new Problem(503, "busy", d)' },
    { path: "services/cli/src/a.ts", text: 'reject("of_the_cli", d)' },
  ];
  expect(errorCodes(sources)).toEqual({
    busy: [503],
    pool_in_use: [409],
    pool_not_found: [404],
  });
});
