import { afterEach, beforeEach, expect, test } from "vitest";
import { type PlayedGateway, playGateway } from "../../testing/played-gateway.ts";

let gateway: PlayedGateway;

beforeEach(async () => {
  gateway = await playGateway(() => ({ body: { metric: "loss", items: [], validations: 4 } }));
});
afterEach(() => gateway[Symbol.asyncDispose]());

test("search best says, if all trials with the metric have failed, that their values do not count", async () => {
  const { code, err } = await gateway.yard("search", "best", "4");
  expect(code).toBe(0);
  expect(err).toContain("no trial without a failure has reported the metric");
});
