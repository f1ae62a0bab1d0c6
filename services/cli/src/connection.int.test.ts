import { afterEach, expect, test, vi } from "vitest";
import { playGateway } from "./testing/played-gateway.ts";

afterEach(() => vi.unstubAllEnvs());

test("a command's calls are in the trace that its environment names, if that is valid", async () => {
  await using gateway = await playGateway(() => ({ body: { items: [] } }));
  const valid = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  for (const named of [valid, "mine", ""]) {
    vi.stubEnv("TRACEPARENT", named);
    expect(await gateway.yard("pool", "list")).toMatchObject({ code: 0 });
  }
  expect(gateway.traceparents).toEqual([valid, undefined, undefined]);
});
