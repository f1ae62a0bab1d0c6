/** A configuration has values that look like the gateway's encoding of numbers: they are ordinary values. */
import { isDeepStrictEqual } from "node:util";
import { bystander, died, pidsOf, type Scenario, submitCommand } from "./scenario.ts";

const data = { x: { $double: { valueOf: 1, toString: 1 } }, y: { $double: "NaN" } };

export const forgedDocument: Scenario = {
  name: "a configuration that looks like an encoded number",
  run: async (world) => {
    const before = await pidsOf(world);
    const id = await submitCommand(world, "forged", "true", `data: ${JSON.stringify(data)}`);
    const found = [...(await bystander(world))];
    const { config } = await world.client.call("getExperiment", { experiment: id });
    const kept = (config as { readonly data?: unknown } | undefined)?.data;
    if (!isDeepStrictEqual(kept, data)) found.push(`it is read as ${JSON.stringify(kept)}`);
    const { items } = await world.client.call("listExperiments", { pageSize: 100 });
    if (!items.some((one) => one.id === id)) found.push("it is not in the list");
    return [...found, ...(await died(world, before))];
  },
};
