import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway } from "./testing/played-gateway.ts";

const schedulerAnsweredAtMs = Date.UTC(2026, 0, 2);
let gateway: PlayedGateway;

beforeEach(async () => {
  const age = { schedulerAnsweredAtMs };
  gateway = await playGateway(({ call }) =>
    call.startsWith("GET /api/v1/trials/")
      ? { body: { id: "1.1", experiment: "1", state: "ACTIVE", ...age } }
      : { body: { items: [], ...age } },
  );
});
afterEach(() => gateway[Symbol.asyncDispose]());

test.each([
  ["agent", "list"],
  ["job", "list"],
  ["trial", "describe", "1.1"],
])(
  "while the scheduler does not answer, yard %s %s says how old the states are",
  async (...words) => {
    const { code, err } = await gateway.yard(...words);
    expect(code).toBe(0);
    expect(err).toBe("the scheduler does not answer: the states are as of 2026-01-02 00:00:00\n");
    const { out } = await gateway.yard(...words, "-o", "json");
    expect(JSON.parse(out)).toMatchObject({ schedulerAnsweredAtMs });
  },
);
