import { expect, test } from "vitest";
import { z } from "zod";
import { rateVariables, ratesOf } from "./config.ts";

const read = (environment: Readonly<Record<string, string>>) =>
  z.object(rateVariables).safeParse(environment);

test("a rate of 0 is no limit, and each other one has the same burst", () => {
  const { data } = read({ TRAINYARD_RATE_USER: "0", TRAINYARD_RATE_BURST: "7" });
  expect(data && ratesOf(data)).toEqual({
    user: null,
    run: { perSecond: 50, burst: 7 },
    address: { perSecond: 200, burst: 7 },
  });
});

test.each([
  ["TRAINYARD_TRUSTED_PROXIES", "10.0.0.0/33"],
  ["TRAINYARD_TRUSTED_PROXIES", "10.0.0.1, gateway.example.net"],
  ["TRAINYARD_RATE_USER", "-1"],
  ["TRAINYARD_RATE_RUN", "fast"],
  ["TRAINYARD_RATE_BURST", "0"],
])("%s=%s is refused", (name, value) => {
  const { error } = read({ [name]: value });
  expect(error?.issues).toHaveLength(1);
  expect(error?.issues[0]?.path).toEqual([name]);
});
