import { expect, test } from "vitest";
import { recordedTask } from "../recorded.ts";

test("a recorded task without settings has one slot on one agent, no restarts, and keeps its slots", () => {
  expect(recordedTask({ entrypoint: ["python3", "a.py"] }, "command")).toEqual({
    entrypoint: ["python3", "a.py"],
    resources: {
      pool: "default",
      slots: 1,
      priority: 0,
      weight: 1,
      singleAgent: true,
      preemptionTimeoutMs: 300_000,
    },
    preemptible: false,
    maxRestarts: 0,
    variables: { cpu: [], cuda: [], rocm: [] },
    keepsWork: false,
    checkpointStorage: null,
    workDir: "",
    idleTimeoutSeconds: null,
    notebookIdleType: "activity",
    readyTimeoutSeconds: 300,
    tensorboardArgs: [],
  });
});

test("a recorded task has the slots, limits and restarts of its configuration", () => {
  const read = recordedTask(
    {
      entrypoint: "echo hello",
      max_restarts: 2,
      preemption_timeout: "1m",
      resources: {
        slots: 0,
        resource_pool: "big",
        priority: 7,
        time_limit: "2h",
        preemptible: true,
      },
      environment: { environment_variables: { cpu: ["A=1"], cuda: [], rocm: [] } },
    },
    "command",
  );
  expect(read).toMatchObject({ entrypoint: "echo hello", preemptible: true, maxRestarts: 2 });
  const limits = { timeLimitMs: 7_200_000, preemptionTimeoutMs: 60_000 };
  expect(read.resources).toMatchObject({ pool: "big", slots: 0, priority: 7, ...limits });
  expect(read.variables.cpu).toEqual(["A=1"]);
});

test.each([null, 3, "text", [], { resources: 4, entrypoint: 7, environment: [] }])(
  "a recorded task is read with defaults from %j",
  (struct) =>
    expect(recordedTask(struct, "command")).toMatchObject({ entrypoint: "", maxRestarts: 0 }),
);

test("notebooks and shells keep their work, commands if they ask for it, and no TensorBoard does", () => {
  const keeps = (kind: string, keep_work: boolean) => recordedTask({ keep_work }, kind).keepsWork;
  expect(["notebook", "shell", "command", "tensorboard"].map((kind) => keeps(kind, false))).toEqual(
    [true, true, false, false],
  );
  expect(["command", "tensorboard"].map((kind) => keeps(kind, true))).toEqual([true, false]);
});

test("a recorded task has its times in seconds, and 0 for a task that is never idle too long", () => {
  const read = (config: object) => recordedTask(config, "notebook");
  expect(read({ idle_timeout: "30m", ready_timeout: 60 })).toMatchObject({
    idleTimeoutSeconds: 1800,
    readyTimeoutSeconds: 60,
  });
  expect(read({ idle_timeout: 0 }).idleTimeoutSeconds).toBe(0);
  expect(read({ idle_timeout: "soon", notebook_idle_type: 3 })).toMatchObject({
    idleTimeoutSeconds: null,
    notebookIdleType: "activity",
  });
});
