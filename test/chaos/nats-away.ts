/** NATS is down for a while during a search, with or without losing its data. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { World } from "../world/world.ts";
import {
  type SearchSize,
  type SearchUnderTest,
  submitSearch,
  untilMoreValidations,
  untilOver,
  violationsOf,
} from "./search-under-test.ts";

type Options = SearchSize & { readonly log: (line: string) => void };

/** Checks that no agent is declared lost, and that afterwards nothing is missing. */
export async function natsAway(
  world: World,
  options: Options & { readonly awayMs: number },
): Promise<string[]> {
  const fromMs = Date.now();
  const search = await submitSearch(world, options);
  await untilMoreValidations(world.client, search.id);
  await world.kill("nats");
  options.log(`NATS is away for ${options.awayMs / 1_000} s`);
  await delay(options.awayMs);
  await world.restart("nats");
  return await settled(world, search, fromMs);
}

/** Deletes the folder of NATS twice while it is down. */
export async function natsWiped(world: World, options: Options): Promise<string[]> {
  const fromMs = Date.now();
  const search = await submitSearch(world, options);
  for (const time of ["once", "twice"]) {
    await untilMoreValidations(world.client, search.id);
    await world.kill("nats");
    rmSync(join(world.home, "nats"), { recursive: true, force: true });
    options.log(`the data of NATS is deleted ${time}`);
    await world.restart("nats");
  }
  return await settled(world, search, fromMs);
}

/** Events from before the search began are those of other tests on the cluster. */
async function settled(world: World, search: SearchUnderTest, fromMs: number): Promise<string[]> {
  await untilOver(world.client, search.id, 900_000);
  const lost: string[] = [];
  for await (const { message } of world.client.stream("watchEvents", { noFollow: true })) {
    if (Date.parse(message.time) >= fromMs && /\.(AgentLost|RunEnded)\./.test(message.type)) {
      const text = JSON.stringify(message.data);
      if (message.type.includes("AgentLost") || /lost/i.test(text)) {
        lost.push(`${message.type} ${message.subject}: ${text}`);
      }
    }
  }
  return [...lost, ...(await violationsOf(world, search))];
}
