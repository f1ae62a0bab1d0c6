import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./root.ts";

/**
 * The files that take longest, in the order in which they begin. Begun early they end beside the others; begun late,
 * the last one alone would keep a core idle for minutes. The first three mostly wait for what they killed to come back,
 * so that what computes, the benchmarks first, has the cores nearly to itself.
 */
export const longestFirst: readonly string[] = [
  "test/chaos/chaos.test.ts",
  "test/chaos/away.test.ts",
  "deploy/local/src/cluster.test.ts",
  "test/bench/benches.test.ts",
  "test/pytorch-kill9/kill9.test.ts",
  "test/sdk-python/sdk-python-torch.test.ts",
  "services/agent/src/processes.test.ts",
  "test/e2e/pytorch.test.ts",
  "test/e2e/custom-search.test.ts",
  "test/e2e/verbs.test.ts",
  "test/e2e/bad-input.test.ts",
  "test/e2e/down-and-up.test.ts",
  "test/e2e/population.test.ts",
  "test/port/port.test.ts",
  "services/checkpoint-gc/src/service.test.ts",
  "services/checkpoint-gc/src/storages.test.ts",
  "test/e2e/fsdp2.test.ts",
  "test/examples/pytorch.test.ts",
  "test/sdk-python/sdk-python.test.ts",
  "test/e2e/several-ranks.test.ts",
  "test/e2e/several-agents.test.ts",
  "test/e2e/halving.test.ts",
  "test/e2e/profile.test.ts",
  "test/e2e/hostile-ends.test.ts",
  "test/search-kill9/kill9.test.ts",
  "test/world/runner-killed.test.ts",
  "test/e2e/spaces.test.ts",
  "test/browser/tabs.test.ts",
  "test/browser/objects.test.ts",
  "test/browser/lists.test.ts",
];

/**
 * The named files first, then those that are alone in their process, then the others, which fill what is left of each
 * core.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

function place({ moduleId, project }: TestSpecification): number {
  const named = longestFirst.indexOf(relative(root, moduleId));
  if (named !== -1) return named;
  return longestFirst.length + (project.config.isolate ? 0 : 1);
}
