/** A training process leaves an end record of any size: its own trial ends, and no other is affected. */
import { bystander, died, endOf, pidsOf, type Scenario, submitCommand } from "./scenario.ts";

const sizes = [300_000, 1_200_000, 200_000_000] as const;

function script(bytes: number): string {
  const record = `{'reason': 'error', 'message': 'x' * ${bytes}}`;
  return `python3 -c "import json, os; json.dump(${record}, open(os.environ['TRAINYARD_RUN_DIR'] + '/end.json', 'w')); raise SystemExit(1)"`;
}

export const largeEndRecords: readonly Scenario[] = sizes.map((bytes) => ({
  name: `an end record of ${bytes} bytes`,
  run: async (world) => {
    const before = await pidsOf(world);
    const neighbour = await submitCommand(world, "neighbour", "sleep 20");
    const id = await submitCommand(world, "talkative", script(bytes));
    const state = await endOf(world, id);
    const found = state === "ERROR" ? [] : [`its own experiment is ${state}`];
    found.push(...(await bystander(world)));
    const beside = await endOf(world, neighbour);
    if (beside !== "COMPLETED") found.push(`the experiment beside it is ${beside}`);
    const { items } = await world.client.call("listTrials", { experiment: neighbour });
    if (items[0]?.runs.length !== 1) found.push("the trial beside it was started again");
    return [...found, ...(await died(world, before))];
  },
}));
