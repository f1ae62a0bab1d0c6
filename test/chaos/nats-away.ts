/** NATS is down for a while during a search, with or without losing its data. */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { World } from "../world/world.ts";
import {
  type SearchUnderTest,
  submitSearch,
  untilMoreValidations,
  untilOver,
  violationsOf,
} from "./search-under-test.ts";

type Options = {
  readonly seed: number;
  readonly stepSeconds: number;
  readonly trials?: number;
  readonly log: (line: string) => void;
};

/** A cluster for both tests, one after the other. */
export const startWorld = (): Promise<World> =>
  World.start({ processes: true, slots: 3, restart: false });

/** Checks that no agent is declared lost, and that afterwards nothing is missing. */
export async function natsAway(
  world: World,
  options: Options & { readonly awayMs: number },
): Promise<string[]> {
  const search = await submitSearch(world, options);
  await untilMoreValidations(world.client, search.id);
  await world.kill("nats");
  options.log(`NATS is away for ${options.awayMs / 1_000} s`);
  await delay(options.awayMs);
  await restart(world, "nats");
  return await settled(world, search);
}

/** Deletes the folder of NATS twice while it is down. */
export async function natsWiped(world: World, options: Options): Promise<string[]> {
  const search = await submitSearch(world, options);
  for (const time of ["once", "twice"]) {
    await untilMoreValidations(world.client, search.id);
    await world.kill("nats");
    rmSync(join(world.home, "nats"), { recursive: true, force: true });
    options.log(`the data of NATS is deleted ${time}`);
    await restart(world, "nats");
  }
  return await settled(world, search);
}

async function restart(world: World, name: string): Promise<void> {
  const said = await world.yard("cluster", "restart", name);
  if (said.code !== 0) throw new Error(said.err);
}

async function settled(world: World, search: SearchUnderTest): Promise<string[]> {
  await untilOver(world.client, search.id, 900_000);
  const lost: string[] = [];
  for await (const { message } of world.client.stream("watchEvents", { noFollow: true })) {
    if (/\.(AgentLost|RunEnded)\./.test(message.type)) {
      const text = JSON.stringify(message.data);
      if (message.type.includes("AgentLost") || /lost/i.test(text)) {
        lost.push(`${message.type} ${message.subject}: ${text}`);
      }
    }
  }
  return [...lost, ...(await violationsOf(world, search))];
}
