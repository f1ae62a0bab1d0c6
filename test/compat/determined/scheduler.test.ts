import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readCases, runCases } from "./case-file.ts";

describe("the schedulers and the autoscaling of Determined", () => {
  const { outcomes, unknown } = runCases(
    readCases(join(import.meta.dirname, "scheduler-cases.json")),
  );

  it("are completely known here", () => {
    expect(unknown).toEqual([]);
    expect(outcomes).toHaveLength(111);
  });

  it.each(outcomes.map(({ id, difference }) => [id, difference] as const))("%s", (_, found) => {
    expect(found).toBe(null);
  });
});

/** One agent of four slots, and a task that fits. */
const pass = {
  scheduler: "priority",
  agents: [{ id: "agent", slots: 4 }],
  groups: [{ id: "job", priority: 42 }],
  tasks: [{ id: "task", job: "job", slots: 4, preemptible: true, allocated_on: null }],
};

describe("a case of a scheduler that decides otherwise fails", () => {
  const differencesOf = (section: string, name: string, ...cases: readonly object[]) =>
    runCases({
      [section]: { [name]: cases.map((one, at) => ({ id: String(at), ...one })) },
    }).outcomes.map(({ difference }) => difference);

  it("when a step starts or stops other runs", () => {
    const expecting = (...steps: readonly object[]) => ({ ...pass, steps });
    expect(
      differencesOf(
        "scheduler",
        "priority",
        expecting({ op: "schedule", expect_allocate: ["task"], expect_release: [] }),
        expecting({ op: "schedule", expect_allocate: [] }),
        expecting({ op: "schedule", expect_release: ["task"] }),
        expecting(
          { op: "schedule" },
          { op: "apply_allocations" },
          { op: "finish_tasks", tasks: ["task"] },
          { op: "add_tasks", tasks: [{ id: "next", job: "job", slots: 4 }] },
          { op: "schedule", expect_allocate: [] },
        ),
        expecting({ op: "guess" }),
      ),
    ).toEqual([
      null,
      'step 1: allocate is ["task"], expected []',
      'step 1: release is [], expected ["task"]',
      'step 5: allocate is ["next"], expected []',
      'step 1: "guess" is not a step that is known here',
    ]);
  });

  it("when the queue has other jobs", () => {
    const asked = { ...pass, do: "schedule, apply" };
    expect(
      differencesOf(
        "scheduler",
        "job_order",
        { ...asked, expect_jobs: { job: { state: "SCHEDULED", jobs_ahead: 0 } } },
        { ...asked, expect_jobs: { job: { state: "QUEUED" } } },
        { ...asked, expect_jobs: { other: {} } },
        { ...asked, expect_jobs: {}, expect_num_jobs: 2 },
      ),
    ).toEqual([
      null,
      'job.state is "SCHEDULED", expected "QUEUED"',
      "other is not in the queue",
      "number of jobs is 1, expected 2",
    ]);
  });

  it("when a provider gets other calls", () => {
    const asked = { max_instances: 2, desired_new: 3, passes: 1, initial: {}, agents_idle: {} };
    expect(
      differencesOf(
        "provisioner",
        "provision_history",
        { ...asked, expect: [["list"], ["launch", 2]] },
        { ...asked, expect: [["list"]] },
      ),
    ).toEqual([null, 'it is [["list"],["launch",2]], expected [["list"]]']);
  });
});
