import { isFault } from "@trainyard/kernel";
import { expect, test } from "vitest";
import { chooseProcessGroups } from "./process-groups.ts";

const all = { cgroup: null, parent: null, folders: null };
const without = { ...all, cgroup: "EROFS" };

test("the best mechanism that the host allows, or the configured one, is chosen, with the reasons against a better one", () => {
  expect(chooseProcessGroups("auto", all)).toEqual({ mechanism: "cgroup", problems: [] });
  expect(chooseProcessGroups("parent", all)).toEqual({ mechanism: "parent", problems: [] });
  const problems = ["cgroup: EROFS"];
  expect(chooseProcessGroups("auto", without)).toEqual({ mechanism: "parent", problems });
});

test.each([
  ["a configured mechanism that the host does not allow", "cgroup", without, "no_process_groups"],
  [
    "a host without Python 3",
    "auto",
    { ...all, cgroup: "spawnSync python3 ENOENT", parent: "spawnSync python3 ENOENT" },
    "no_process_runs",
  ],
  [
    "a Python without the right to adopt processes",
    "cgroup",
    { ...all, parent: "prctl: EINVAL" },
    "no_process_runs",
  ],
] as const)("%s ends the agent's start with the reason", (_, asked, holding, code) => {
  const problem = Object.values(holding).findLast((one) => one !== null);
  const start = (): unknown => {
    try {
      return chooseProcessGroups(asked, holding);
    } catch (error) {
      return error;
    }
  };
  const error = start();
  expect(isFault(error) && [error.code, error.retry]).toEqual([code, "never"]);
  expect((error as Error).message).toContain(problem);
});

test("an agent with limits does not start where a run's cgroup cannot have them, and says why", () => {
  const start = (asked: "auto" | "parent", holding: typeof all | typeof without) => () =>
    chooseProcessGroups(asked, holding, true);
  expect(start("auto", all)()).toEqual({ mechanism: "cgroup", problems: [] });
  expect(start("auto", without)).toThrow(/has no cgroup with that limit \(EROFS\)/);
  expect(start("parent", all)).toThrow(/\(TRAINYARD_AGENT_PROCESS_GROUPS is parent\)/);
});
