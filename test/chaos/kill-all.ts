/**
 * All processes of a one-process cluster are killed at once, supervisor and agent included; "up" repairs the cluster.
 */
import { inspect } from "node:util";
import { World } from "../world/world.ts";
import {
  type SearchSize,
  submitSearch,
  untilMoreValidations,
  untilOver,
  violationsOf,
} from "./search-under-test.ts";

const everything = ["supervisor", "trainyard", "agent-1", "nats", "postgres"] as const;

export async function killAll(
  options: SearchSize,
): Promise<{ readonly violations: readonly string[]; readonly again: readonly string[] }> {
  await using world = await World.start({ slots: 3 });
  const search = await submitSearch(world, options);
  await untilMoreValidations(world.client, search.id);
  const pids = await Promise.all(everything.map((name) => world.pidOf(name)));
  for (const pid of pids) process.kill(pid, "SIGKILL");
  await world.up();
  await untilOver(world.client, search.id, 900_000);
  const { items } = await world.client.call("listTrials", { experiment: search.id, pageSize: 100 });
  return {
    violations: await violationsOf(world, search),
    // How the runs ended of those trials that needed more than one.
    again: items
      .filter(({ runs }) => runs.length > 1)
      .map(({ id, runs }) => `${id}: ${inspect(runs)}`),
  };
}
