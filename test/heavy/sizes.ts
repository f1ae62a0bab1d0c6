import type { FloodOptions } from "./flood.ts";
import type { HeavyOptions } from "./heavy.ts";
import { heavyRoutes, oneOfEachCost } from "./routes.ts";

type Size = Omit<HeavyOptions, "log">;

export const full: Size = {
  routes: heavyRoutes,
  size: { trials: 20, validations: 34, names: 3_600 },
  // More than the streams that one caller may have.
  force: { connections: 128, forMs: 250, graceMs: 3_000 },
  aloneMs: 500,
  fastMs: 50,
};

/** A minute, on a machine without other work. */
export const short: Size = {
  routes: oneOfEachCost(),
  size: { trials: 1, validations: 4, names: 3_600 },
  force: { connections: 24, forMs: 20, graceMs: 1_000 },
  aloneMs: 100,
  fastMs: 100,
};

/**
 * For `npm test`, beside other suites: one connection, which leaves them the machine. How long the other caller waits
 * is for the campaigns to judge.
 */
export const gentle: Size = {
  ...short,
  force: { connections: 1, forMs: 0, graceMs: 1_000 },
  fastMs: Infinity,
};

/** Each run reports once at least. */
export const floods: Omit<FloodOptions, "log"> = {
  runs: 1_000,
  reportsPerSecond: 30,
  connections: 8,
  spanMs: 8_000,
  fastMs: 50,
};
