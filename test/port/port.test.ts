import { afterAll, beforeAll, expect, test } from "vitest";
import { needTorch } from "../world/torch.ts";
import { World } from "../world/world.ts";
import { runTutorial, tutorials } from "./port.ts";

const slowMs = 600_000;
/** Tutorials that are left out, since they import PyTorch again; the campaign `port` runs all. */
const leftOut = [
  "mnist_pytorch/adaptive",
  "mnist_pytorch/dist-random",
  "mnist_pytorch/distributed",
  "core_api_pytorch_mnist/adaptive",
  "core_api_pytorch_mnist/const",
  "core_api_pytorch_mnist/checkpoints",
];

let world: World;

beforeAll(async () => {
  // A trial of four slots uses both agents, the others use one.
  world = await World.start({ agents: 2, slots: 2, python: true });
});
afterAll(() => world?.[Symbol.asyncDispose]());

test.for(tutorials.filter(({ name }) => !leftOut.includes(name)))(
  "the tutorial $name completes with changed imports alone",
  { timeout: slowMs },
  async (tutorial, { skip }) => {
    if (tutorial.torch) needTorch(skip);
    expect(await runTutorial(world, tutorial)).toEqual([]);
  },
);
