import { relative } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { root } from "./root.ts";
import { integrationSuffix } from "./unit-tests.ts";

/**
 * The slowest test files, in their starting order. Started first, they run beside the other files; started late, the
 * last one would leave a core idle for minutes. The first three mostly wait for killed processes to restart, so the
 * benchmarks beside them have the cores nearly to themselves.
 */
export const longestFirst: readonly string[] = [
  "test/chaos/chaos.test.ts",
  "test/chaos/away.test.ts",
  "deploy/local/src/cluster.int.test.ts",
  "test/bench/benches.test.ts",
  "test/images/images.test.ts",
  "test/pytorch-kill9/kill9.test.ts",
  "test/sdk-python/sdk-python-torch.test.ts",
  "services/agent/src/processes.int.test.ts",
  "test/e2e/two-agents.test.ts",
  "test/e2e/separate-services.test.ts",
  "test/e2e/verbs.test.ts",
  "test/e2e/one-agent.test.ts",
  "test/e2e/down-and-up.test.ts",
  "services/metrics/src/storage.int.test.ts",
  "services/agent/src/service-podman.int.test.ts",
  "services/agent/src/leaving.int.test.ts",
  "services/gateway/src/read-model/read-model.int.test.ts",
  "services/agent/src/runtime/pull.int.test.ts",
  "services/checkpoint-gc/src/service.int.test.ts",
  "services/checkpoint-gc/src/storages.int.test.ts",
  "test/sdk-python/sdk-python.test.ts",
  "test/search-kill9/kill9.test.ts",
  "test/world/runner-killed.test.ts",
  "test/browser/tabs.test.ts",
  "test/browser/objects.test.ts",
  "test/browser/lists.test.ts",
];

/**
 * Sorts test files: the slowest first, then those with a process of their own, then the integration tests, then the
 * unit tests, which fill the remaining time of each core.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return files.toSorted((a, b) => place(a) - place(b) || (a.moduleId < b.moduleId ? -1 : 1));
  }
}

function place({ moduleId, project }: TestSpecification): number {
  const named = longestFirst.indexOf(relative(root, moduleId));
  if (named !== -1) return named;
  if (project.config.isolate) return longestFirst.length;
  return longestFirst.length + (moduleId.endsWith(integrationSuffix) ? 1 : 2);
}
