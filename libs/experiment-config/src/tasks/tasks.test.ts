import { isRejection } from "@trainyard/kernel";
import { describe, expect, test } from "vitest";
import { isMapping, type Json, type JsonObject } from "../json.ts";
import { exportTaskJsonSchema } from "../json-schema.ts";
import { proxyPortsOf, recordedContainer } from "../recorded.ts";
import { type ParsedTask, parseTask, type TaskParseOptions } from "./parse.ts";
import { taskConfig, requestedTaskResources, taskName } from "./recorded.ts";
import { taskAsWritten } from "./task.ts";

const command: TaskParseOptions = { kind: "command" };
const shell: TaskParseOptions = { kind: "shell" };
const notebook: TaskParseOptions = { kind: "notebook" };
const tensorboard: TaskParseOptions = { kind: "tensorboard" };
const defaults = { checkpoint_storage: { type: "directory", container_path: "/checkpoints" } };

function parsed(text: string, options: TaskParseOptions = command): ParsedTask {
  const result = parseTask(text, options);
  if (isRejection(result)) throw new Error(result.detail);
  return result;
}

function problems(text: string, options: TaskParseOptions = command): string[] {
  const result = parseTask(text, options);
  if (!isRejection(result)) return [];
  return (result.problems ?? []).map(({ path, detail }) => `${path} ${detail}`.trim());
}

const warned = (text: string, options?: TaskParseOptions): Record<string, string> =>
  Object.fromEntries(parsed(text, options).warnings.map(({ path, detail }) => [path, detail]));

describe("the configuration of a task", () => {
  test("has every default when its text is empty", () => {
    for (const text of ["", "{}", "# nothing", "resources:\n"]) {
      expect(parsed(text, shell)).toEqual({
        config: {
          name: "",
          description: "",
          workspace: "",
          entrypoint: "",
          work_dir: "",
          max_restarts: 0,
          preemption_timeout: 300,
          debug: false,
          keep_work: false,
          idle_timeout: null,
          notebook_idle_type: "activity",
          tensorboard_args: [],
          ready_timeout: 300,
          resources: {
            slots: 1,
            preemptible: false,
            priority: null,
            resource_pool: "default",
            weight: 1,
            max_slots: null,
            time_limit: null,
          },
          environment: { environment_variables: { cpu: [], cuda: [], rocm: [] } },
        },
        warnings: [],
      });
    }
  });

  test("takes the words of a command as its entrypoint", () => {
    const options = { kind: "command", command: ["python", "-c", "print('a b')"] } as const;
    expect(parsed("resources: {slots: 0}", options).config.entrypoint).toEqual(options.command);
    expect(parsed("entrypoint: nvidia-smi | head").config.entrypoint).toBe("nvidia-smi | head");
  });

  test("keeps the keys of containers, ports and constraints where the agent reads them", () => {
    const { config } = parsed(`
entrypoint: [sleep, "5"]
environment:
  image: {gpu: g, cpu: c}
  environment_variables: [A=1]
  proxy_ports: [{proxy_port: 8080}, {proxy_port: 22, proxy_tcp: true}]
  registry_auth: {password: secret}
resources:
  slots: 2
  preemptible: true
  resource_pool: gpus
  priority: 3
  time_limit: 2h
  shm_size: 2G
  devices: ["/dev/fuse:/dev/fuse:rw"]
  constraints: {device: cuda, require: {rack: 3}}
bind_mounts: [{host_path: /data, container_path: data, read_only: true}]`);
    expect(JSON.stringify(config)).not.toContain("secret");
    expect(recordedContainer(config, "cuda")).toMatchObject({
      image: "g",
      shmBytes: 2 * 1024 ** 3,
      devices: [{ hostPath: "/dev/fuse", containerPath: "/dev/fuse", mode: "rw" }],
      bindMounts: [{ hostPath: "/data", containerPath: "data", readOnly: true }],
    });
    expect(proxyPortsOf(config)).toEqual([
      { port: 8080, isTcp: false },
      { port: 22, isTcp: true },
    ]);
    expect(config.environment.environment_variables.cuda).toEqual(["A=1"]);
    expect(requestedTaskResources(config)).toMatchObject({
      pool: "gpus",
      slots: 2,
      priority: 3,
      singleAgent: true,
      timeLimitMs: 7_200_000,
      preemptionTimeoutMs: 300_000,
      constraints: { device: "cuda", required: [{ label: "rack", values: ["3"] }] },
    });
  });

  test("is read back unchanged, and a malformed record gets the defaults", () => {
    const { config } = parsed(
      "{entrypoint: a, work_dir: src, idle_timeout: 30m, resources: {slots: 0, constraints: {same_label: rack}}}",
    );
    expect(taskConfig(JSON.parse(JSON.stringify(config)))).toEqual(config);
    expect(JSON.stringify(taskConfig(config))).toBe(JSON.stringify(config));
    const empty = parsed("", shell).config;
    for (const record of [null, 3, [], { resources: 1, environment: "x", entrypoint: 7 }]) {
      expect(taskConfig(record)).toMatchObject({
        entrypoint: "",
        resources: isMapping(record as Json) ? { slots: 1 } : empty.resources,
      });
    }
  });

  test("has the cluster's storage if its work is kept, and the user's keys win", () => {
    const storage = (text: string, options: TaskParseOptions) =>
      parsed(text, { ...options, defaults }).config.checkpoint_storage;
    const directory = { type: "directory", container_path: "/checkpoints" };
    for (const options of [notebook, shell]) expect(storage("", options)).toMatchObject(directory);
    expect(storage("{entrypoint: a, keep_work: true}", command)).toMatchObject(directory);
    expect(storage("entrypoint: a", command)).toBeUndefined();
    expect(storage("", tensorboard)).toBeUndefined();
    const s3 = storage("checkpoint_storage: {type: s3, bucket: b}", notebook);
    expect(s3).toMatchObject({ type: "s3", bucket: "b" });
    expect(s3).not.toHaveProperty("container_path");
  });

  test("has no slots for a TensorBoard unless the user gives some", () => {
    expect(parsed("", tensorboard).config.resources.slots).toBe(0);
    expect(parsed("resources: {slots: 2}", tensorboard).config.resources.slots).toBe(2);
    expect(parsed("", notebook).config.resources.slots).toBe(1);
  });

  test("has times in seconds, and the keys of notebooks and TensorBoards", () => {
    expect(
      parsed(
        "{idle_timeout: 30m, ready_timeout: 90, notebook_idle_type: kernel_connections}",
        notebook,
      ),
    ).toMatchObject({
      config: { idle_timeout: 1800, ready_timeout: 90, notebook_idle_type: "kernel_connections" },
      warnings: [],
    });
    expect(parsed("tensorboard_args: [--window_title=a]", tensorboard)).toMatchObject({
      config: { tensorboard_args: ["--window_title=a"] },
      warnings: [],
    });
  });

  test("takes overrides", () => {
    const overrides = ["resources.slots=0", "entrypoint=echo hi"];
    expect(parsed("", { kind: "command", overrides }).config).toMatchObject({
      entrypoint: "echo hi",
      resources: { slots: 0 },
    });
  });
});

describe("a wrong configuration of a task", () => {
  test.each<[text: string, problem: string, options?: TaskParseOptions]>([
    ["", 'entrypoint is missing: it is the command to run, for example "nvidia-smi"'],
    ["entrypoint: ' '", "entrypoint is blank: it is the command to run"],
    ["entrypoint: []", "entrypoint must be a list of at least 1 item"],
    [
      "entrypoint: a",
      "entrypoint is given, and a command too: leave out one of them",
      { kind: "command", command: ["b"] },
    ],
    ["", "command begins with a blank word", { kind: "command", command: [""] }],
    [
      "",
      "command[1] contains half of a surrogate pair, which is not text",
      { kind: "command", command: ["a", "\ud83d"] },
    ],
    [
      "",
      "command is given, and a shell runs none: start a command instead",
      { kind: "shell", command: ["a"] },
    ],
    ["[1]", "the configuration is a list; it must be a mapping of keys to values"],
    ["{entrypoint: a, entripoint: b}", 'entripoint is not a known key; "entrypoint" is'],
    [
      "{entrypoint: a, resources: {slots_per_trial: 1}}",
      'resources.slots_per_trial is not a known key; "slots" is',
    ],
    ["{entrypoint: a, resources: {slots: -1}}", "resources.slots must be at least 0, not -1"],
    [
      "{entrypoint: a, resources: {slots: 2, max_slots: 1}}",
      "resources.max_slots must be at least slots, 2, not 1",
    ],
    ["{entrypoint: a, resources: {time_limit: 0s}}", "resources.time_limit must be greater than 0"],
    [
      "{entrypoint: a, resources: {preemptible: maybe}}",
      'resources.preemptible must be true or false, not "maybe"',
    ],
    [
      "{entrypoint: a, environment: {proxy_ports: [{proxy_port: 80}, {proxy_port: 80}]}}",
      "environment.proxy_ports[1].proxy_port is 80, as environment.proxy_ports[0].proxy_port is: declare each port once",
    ],
    [
      "{entrypoint: a, environment: {proxy_ports: [{proxy_port: 65536}]}}",
      "environment.proxy_ports[0].proxy_port must be at most 65535, not 65536",
    ],
    [
      "{entrypoint: a, environment: {environment_variables: [TRAINYARD_TASK_ID=t1]}}",
      "environment.environment_variables[0] must not begin with TRAINYARD_: those variables are set by the platform",
    ],
    [
      "{entrypoint: a, bind_mounts: [{host_path: data, container_path: /d}]}",
      "bind_mounts[0].host_path must be an absolute path, one that begins with /",
    ],
    [
      "{entrypoint: a, notebook_idle_type: never}",
      'notebook_idle_type must be one of "kernels_or_terminals", "kernel_connections", "activity", not "never"',
    ],
    [
      "idle_timeout: soon",
      'idle_timeout must be a time: a number of seconds, or text such as "90s", "30m", "2h", "1d"',
      notebook,
    ],
    ["idle_timeout: 31d", "idle_timeout must be at most 30 days", notebook],
    ["ready_timeout: 0", "ready_timeout must be at least 1 s", notebook],
    [
      "tensorboard_args: [--logdir=/]",
      "tensorboard_args must not have --logdir=/: the platform sets it",
      tensorboard,
    ],
    [
      "entrypoint: jupyter lab",
      "entrypoint must not be given: the server of a notebook runs",
      notebook,
    ],
    [
      "",
      "command is given, and a tensorboard runs none: start a command instead",
      { kind: "tensorboard", command: ["a"] },
    ],
    [
      "checkpoint_storage: {type: s3}",
      "checkpoint_storage.bucket is missing: checkpoints of the type s3 are stored there",
      notebook,
    ],
    [
      "checkpoint_storage: {type: azure, container: a, account_url: b}",
      "checkpoint_storage.type is azure, to which this version does not write checkpoints; directory, shared_fs, s3, gcs work",
      notebook,
    ],
    [`{entrypoint: a, max_restarts: -1}`, "max_restarts must be at least 0, not -1"],
  ])("%s: %s", (text, problem, options) => {
    expect(problems(text, options)).toEqual([problem]);
  });

  test("gets all its problems at once", () => {
    expect(problems("{nmae: x, resources: {slots: a}, debug: 1}")).toHaveLength(4);
  });
});

describe("warnings about a task", () => {
  test("name the keys without effect, and no others", () => {
    const text = `
entrypoint: a
idle_timeout: 30m
notebook_idle_type: activity
environment: {proxy_ports: [{proxy_port: 80, unauthenticated: true}], image: x}
resources: {native_parallel: true}`;
    expect(warned(text)).toEqual({
      notebook_idle_type: "has no effect on a command",
      "environment.image": expect.stringMatching(/^takes effect on agents that run containers/),
      "resources.native_parallel": "has no effect: slots alone says how many slots a task has",
      "environment.proxy_ports[0].unauthenticated":
        "has no effect: every caller of a port is asked for a token or a session",
    });
  });

  test("name the keys without effect on tasks of the kind", () => {
    expect(warned("{entrypoint: a, idle_timeout: 1m, ready_timeout: 5}")).toEqual({
      idle_timeout: "has no effect on a command without environment.proxy_ports, which nobody uses",
      ready_timeout: "has no effect on a command",
    });
    expect(warned("{keep_work: false, tensorboard_args: [a]}", notebook)).toEqual({
      keep_work: "has no effect: the folder of a notebook is always saved",
      tensorboard_args: "has no effect on a notebook",
    });
    expect(
      warned("{keep_work: true, checkpoint_storage: {type: s3, bucket: b}}", tensorboard),
    ).toEqual({
      keep_work: "has no effect on a tensorboard, which has no files of its own",
      checkpoint_storage: "has no effect: nothing of this task is saved",
    });
  });

  test("name the entrypoint of a shell, which is not recorded", () => {
    expect(warned("entrypoint: bash", shell)).toEqual({
      entrypoint: "has no effect on a shell, whose terminals start a login shell",
    });
    expect(parsed("entrypoint: bash", shell).config.entrypoint).toBe("");
  });
});

test("a task without a name is named by the beginning of its command", () => {
  const name = (text: string) => taskName(parsed(text).config, "command");
  expect(name("{name: mine, entrypoint: a}")).toBe("mine");
  expect(name("{entrypoint: [echo, a]}")).toBe("echo a");
  expect(name("entrypoint: |\n  echo a\n  echo b\n")).toBe("echo a echo b");
  expect([...name(`entrypoint: ${"é".repeat(80)}`)]).toHaveLength(60);
  expect(taskName(parsed("", shell).config, "shell")).toBe("shell");
  const config = parsed("", tensorboard).config;
  expect(taskName(config, "tensorboard", ["12", "13.4"])).toBe("tensorboard 12 13.4");
});

describe("the JSON Schema of a task", () => {
  const { properties } = exportTaskJsonSchema() as { readonly properties: JsonObject };

  test("describes each key that no warning describes", () => {
    const described = (keys: JsonObject, warnings: object) =>
      Object.entries(keys).filter(
        ([key, value]) =>
          !Object.hasOwn(warnings, key) && !(isMapping(value) && "description" in value),
      );
    expect(described(properties, taskAsWritten.document)).toEqual([]);
    for (const [name, warnings] of Object.entries(taskAsWritten.sections)) {
      // A storage is one of several mappings, which `parse.test.ts` covers.
      const { properties: keys = {} } = properties[name] as { readonly properties?: JsonObject };
      expect([name, described(keys, warnings)]).toEqual([name, []]);
    }
  });
});
