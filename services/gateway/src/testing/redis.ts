import { freePort, hasRedis, type RunningRedis, startRedis } from "@trainyard/testing";
import { absent, notRun, type Skip } from "@trainyard/testing/needs";

export type { RunningRedis };

/** Starts a Redis. Without redis-server the test is skipped, or fails with TRAINYARD_REQUIRE=redis. */
export async function redisForTest(
  skip: Skip,
  options: { readonly port?: number; readonly password?: string } = {},
): Promise<RunningRedis> {
  if (hasRedis()) return startRedis(options.port ?? (await freePort()), options);
  return notRun(skip, absent("redis", "redis-server, from the distribution"));
}
