/**
 * Tests three agents: one that receives nothing, one whose messages are lost, and a healthy one. All their runs end,
 * each once, and the first two get runs again once their links are restored.
 */
import { assert } from "@trainyard/kernel";
import { eventually } from "../world/eventually.ts";
import { World } from "../world/world.ts";
import { endViolations, inRacks, logViolations, mark, orphans } from "./troubled-agents.ts";

const waitMs = 600_000;

const config = (seconds: number): string => `
name: one way
entrypoint: ["sh", "-c", ": ${mark}; sleep ${seconds}"]
hyperparameters: { x: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: 3, max_concurrent_trials: 3 }
`;

export async function oneWay(
  cutMs: number,
  log: (line: string) => void,
): Promise<readonly string[]> {
  await using world = await World.start({ processes: true, agents: 3, slots: 1, restart: false });
  await using stack = new AsyncDisposableStack();
  const [deaf, mute] = await inRacks(world, { racks: 3, agentsPerRack: 1 }, stack);
  assert(deaf !== undefined && mute !== undefined, "there are three racks");
  world.write("nothing/nothing.txt", "");
  const submit = (seconds: number): Promise<string> => world.submit(config(seconds), "nothing");
  const allRun = async (experiment: string): Promise<void> =>
    world.untilTrials(
      experiment,
      (trials) =>
        trials.length === 3 && trials.every(({ runs }) => runs.at(-1)?.state === "RUNNING"),
    );
  const isOver = (experiment: string): Promise<void> =>
    eventually(
      `experiment ${experiment} is over`,
      async () => (await world.client.call("getExperiment", { experiment })).state !== "ACTIVE",
      waitMs,
    );
  const before = await submit(45);
  await allRun(before);
  log(`both links are cut for ${cutMs} ms`);
  const mended = Promise.all([deaf.suffer("deafen", cutMs), mute.suffer("mute", cutMs)]);
  await isOver(before);
  log("the runs from before the cut are over");
  await mended;
  // Three runs at once need all three agents.
  const after = await submit(45);
  await allRun(after);
  log("runs are on all three agents again");
  await isOver(after);
  const violations = [
    ...(await endViolations(world, [before, after])),
    ...(await logViolations(world)),
  ];
  await stack.disposeAsync();
  return [...violations, ...orphans(world)];
}
