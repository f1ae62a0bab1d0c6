/** The heavy caller, as a process of its own: it sends the requests of a route when it is asked to. */
import { setPriority } from "node:os";
import { Burst, type Counts, type Force } from "./burst.ts";
import { heavyKinds, type KnownValues } from "./heavy-requests.ts";
import { bodyBytesMaxOf, heavyRoutes, nameOf } from "./routes.ts";

export type HeavyOrder = {
  readonly route: string;
  readonly values: KnownValues;
  readonly url: string;
  readonly token: string;
  /** For each kind of request. */
  readonly force: Force;
};

export type HeavyReport = { readonly counts: Readonly<Record<string, Counts>> };

/** Leaves the processor to the platform, which the campaign measures. */
const niceness = 5;

setPriority(niceness);
const burst = new Burst();

process.on("message", (order: HeavyOrder) => void answer(order));
process.once("disconnect", () => process.exit(0));

async function answer(order: HeavyOrder): Promise<void> {
  const { route: name, values, url, token, force } = order;
  const found = heavyRoutes.find((one) => nameOf(one) === name);
  if (found === undefined) throw new Error(`there is no route ${name}`);
  const { route } = found;
  const counts: Record<string, Counts> = {};
  for (const kind of heavyKinds(route, values, bodyBytesMaxOf(found))) {
    const target = { url, method: route.method, token };
    counts[kind.name] = await burst.run(target, kind.make(), force);
  }
  process.send?.({ counts } satisfies HeavyReport);
}
