import { freePort, hasRedis, type RunningRedis, startRedis } from "@trainyard/testing";

export type { RunningRedis };

/** Starts a Redis. Without redis-server the test is skipped, or fails with TRAINYARD_REQUIRE=redis. */
export async function redisForTest(
  skip: (why: string) => never,
  options: { readonly port?: number; readonly password?: string } = {},
): Promise<RunningRedis> {
  if (hasRedis()) return startRedis(options.port ?? (await freePort()), options);
  const required = (process.env["TRAINYARD_REQUIRE"] ?? "").split(",").includes("redis");
  if (required) throw new Error("TRAINYARD_REQUIRE names redis, but there is no redis-server");
  return skip("redis-server, from the distribution");
}
