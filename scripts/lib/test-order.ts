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
  "services/gateway/src/api/read-model.int.test.ts",
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
 * Sorts test files: the slowest first, then those with a process of their own, then the others. Among these, unit tests
 * come evenly between the integration tests, and use the cores while those wait.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const byPath = files.toSorted((a, b) => (a.moduleId < b.moduleId ? -1 : 1));
    const groups = Object.groupBy(byPath, groupOf);
    const { slowest = [], alone = [], integration = [], unit = [] } = groups;
    const bySpeed = slowest.toSorted((a, b) => indexOf(a) - indexOf(b));
    return [...bySpeed, ...alone, ...mixed(integration, unit)];
  }
}

const indexOf = ({ moduleId }: TestSpecification): number =>
  longestFirst.indexOf(relative(root, moduleId));

function groupOf(file: TestSpecification): "slowest" | "alone" | "integration" | "unit" {
  if (indexOf(file) !== -1) return "slowest";
  if (file.project.config.isolate) return "alone";
  return file.moduleId.endsWith(integrationSuffix) ? "integration" : "unit";
}

/** The elements of both lists in their order, each list spread evenly over the result. */
function mixed<T>(some: readonly T[], others: readonly T[]): T[] {
  const spread = (list: readonly T[]) =>
    list.map((element, index) => ({ element, at: index / list.length }));
  return [...spread(some), ...spread(others)]
    .toSorted((a, b) => a.at - b.at)
    .map(({ element }) => element);
}
