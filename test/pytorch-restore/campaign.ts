/** Random trainings, killed at random moments and resumed: libs/sdk-python/tests/torch/recipes.py. */
import { join } from "node:path";
import type { Campaign } from "../../scripts/lib/campaigns.ts";
import { makePythonEnvironment } from "../../scripts/lib/python-environment.ts";
import { type Ended, runModule, testsFolder } from "../sdk-python/python-module.ts";

const recipes = 300;
const recipesOfProcess = 25;

export const campaigns: readonly Campaign[] = [
  {
    name: "pytorch-restore",
    description: `${recipes} trainings made up at random, killed and resumed: the weights and metrics of undisturbed ones`,
    async run({ seed, log }) {
      const environment = await makePythonEnvironment(log);
      if (environment.python === null) return { violations: [environment.why], summary: "no run" };
      const { python } = environment;
      const violations: string[] = [];
      for (let done = 0; done < recipes; done += recipesOfProcess) {
        const ended: Ended[] = [];
        const { over } = runModule(
          [python],
          join(testsFolder, "torch"),
          "test_recipes",
          (one) => ended.push(one),
          { TRAINYARD_RECIPES: `${seed + done}:${recipesOfProcess}` },
        );
        const { code, complaints } = await over;
        violations.push(...ended.flatMap(({ failure }) => failure ?? []));
        if (code !== 0 || ended.length === 0) violations.push(`ended with ${code}: ${complaints}`);
        log(`${done + recipesOfProcess} of ${recipes}, ${violations.length} violations`);
      }
      return { violations, summary: `${recipes} trainings` };
    },
  },
];
