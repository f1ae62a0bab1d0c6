/** Tests tutorials of Determined with changed imports: a trial of four slots uses both agents, the others use one. */
import { expect, test } from "vitest";
import { runTutorial, tutorials } from "../../port/port.ts";
import { needTorch } from "../../world/torch.ts";
import { world } from "./cluster.ts";

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

test.for(tutorials.filter(({ name }) => !leftOut.includes(name)))(
  "the tutorial $name completes with changed imports alone",
  { timeout: slowMs },
  async (tutorial, { skip }) => {
    if (tutorial.torch) needTorch(skip);
    expect(await runTutorial(world, tutorial)).toEqual([]);
  },
);
