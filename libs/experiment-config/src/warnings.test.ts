import { describe, expect, it } from "vitest";
import { proxyPortsOf } from "./container.ts";
import { parsed, yaml } from "./testing/documents.ts";

/** Returns each warning of a valid configuration with `more` added, as path and message. */
const warned = (more: string, drop: readonly string[] = []): Record<string, string> =>
  Object.fromEntries(parsed(yaml(more, drop)).warnings.map(({ path, detail }) => [path, detail]));

const inContainers = expect.stringMatching(/^takes effect on agents that run containers; /);
const notYet = "is accepted and has no effect yet";

describe("warnings", () => {
  it("name every written key without effect, and no others", () => {
    const text = `
bind_mounts: [{host_path: /data, container_path: data}]
resources: {weight: 2, slots_per_trial: 2}
searcher: {name: single, metric: loss, max_length: {epochs: 3}}
environment: {image: x, registry_auth: {password: secret}}
checkpoint_storage: {type: directory, container_path: /a}
hyperparameters: {a: [{type: int, minval: 1, maxval: 2}]}`;
    expect(warned(text)).toEqual({
      bind_mounts: inContainers,
      "searcher.max_length": expect.stringMatching(/^does not end a trial: /),
      "environment.image": inContainers,
      "environment.registry_auth": `${notYet}; credentials in it are not stored`,
      "hyperparameters.a[0]": "is inside a list, which is passed on unchanged: it is not searched",
    });
    const { config } = parsed(yaml(text));
    expect(config).toMatchObject({ resources: { weight: 2 } });
    expect(JSON.stringify(config)).not.toContain("secret");
  });

  it.each([
    ["min_validation_period: {epochs: 1}", "min_validation_period", /training code decides when/],
    ["checkpoint_policy: all", "checkpoint_policy", /^writes no checkpoint by itself: .*Trainer/],
    ["records_per_epoch: 900", "records_per_epoch", /counts its epochs itself/],
    ["optimizations: {aggregation_frequency: 2}", "optimizations", /training code decides how/],
    ["environment: {proxy_ports: [{proxy_port: 6006}]}", "environment.proxy_ports", /no proxy/],
    ["resources: {slots: 0}", "resources.slots", /slots_per_trial says/],
    ["resources: {agent_label: a}", "resources.agent_label", /resources\.constraints say where/],
    ["profiling: {enabled: true, sync_timings: false}", "profiling.sync_timings", /times nothing/],
    [
      "checkpoint_storage: {type: shared_fs, host_path: /s, container_path: /c}",
      "checkpoint_storage.container_path",
      /^is mounted beside host_path on agents that run containers/,
    ],
    [
      "checkpoint_storage: {type: shared_fs, host_path: /s, propagation: rslave}",
      "checkpoint_storage.propagation",
      /^is that of container_path on agents that run containers/,
    ],
    [
      "checkpoint_storage: {type: shared_fs, host_path: /s, checkpoint_path: /s/a}",
      "checkpoint_storage.checkpoint_path",
      /^has no effect: storage_path says/,
    ],
    [
      "checkpoint_storage: {type: shared_fs, host_path: /s, tensorboard_path: /s/a}",
      "checkpoint_storage.tensorboard_path",
      /^has no effect, as in Determined: the section tensorboard_storage says where/,
    ],
    [
      "tensorboard_storage: {type: shared_fs, host_path: /s, container_path: /c}",
      "tensorboard_storage.container_path",
      /^has no effect: TensorBoard files have one path, that of the host$/,
    ],
    [
      "tensorboard_storage: {type: shared_fs, host_path: /s, tensorboard_path: /s/a}",
      "tensorboard_storage.tensorboard_path",
      /^has no effect: storage_path says/,
    ],
    ["slurm: {sbatch_args: [--exclusive]}", "slurm", /do not run under Slurm/],
  ])("name the mechanism that replaces a key: %s", (text, path, sentence) => {
    expect(warned(text)).toEqual({ [path]: expect.stringMatching(sentence) });
  });

  it.each([
    ["{typ: log, base: 10, minval: -4, maxval: -1}", /has the key "typ" and no "type".*type: log/],
    ["{Type: int, minval: 1, maxval: 4}", /has the key "Type" .*write type: int/],
    ["{minval: 0.1, maxval: 0.9}", /has no "type": .*add type: int, double or log/],
    ["{vals: [16, 32]}", /has no "type": .*add type: categorical/],
  ])("report a hyperparameter without its type as a group of constants: %s", (lr, sentence) => {
    const text = `hyperparameters: {optimizer: {lr: ${lr}}}`;
    expect(warned(text)).toEqual({
      "hyperparameters.optimizer.lr": expect.stringMatching(sentence),
    });
  });

  it("report that a log hyperparameter of base 1 has only one value", () => {
    const text = "hyperparameters: {lr: {type: log, base: 1, minval: -4, maxval: -1}}";
    const sentence = "is 1, and every power of 1 is 1: the hyperparameter has one value";
    expect(warned(text)).toEqual({ "hyperparameters.lr.base": sentence });
  });

  it("do not mention groups of constants that do not look like a hyperparameter", () => {
    const text = "hyperparameters: {a: {base: 0.2, minval: {val: 1}, kind: log}, b: {val: 3}}";
    expect(warned(text)).toEqual({});
  });

  it.each(["horovod", "tensorflow", "autohorovod"])(
    "name the launcher that a search and replace has misspelt: %s",
    (module) => {
      const text = `entrypoint: python3 -m trainyard.launch.${module} train.py`;
      expect(warned(text, ["entrypoint"])).toEqual({
        entrypoint: `runs trainyard.launch.${module}, which does not exist; write trainyard.launch.torch, which starts a process for each slot`,
      });
    },
  );

  it.each(["torch", "torch_distributed", "deepspeed", "wrap_rank"])(
    "do not mention the existing launcher trainyard.launch.%s",
    (module) => {
      const text = `entrypoint: python3 -m trainyard.launch.${module} train.py`;
      expect(warned(text, ["entrypoint"])).toEqual({});
    },
  );

  it("do not remove the ports that they mention from the configuration", () => {
    const { config } = parsed(yaml("environment: {proxy_ports: [{proxy_port: 6006}]}"));
    expect(proxyPortsOf(config)).toEqual([{ port: 6006, isTcp: false }]);
  });

  it("do not mention the profiling section, which the training code reads as written", () => {
    const text = "profiling: {enabled: true, begin_on_batch: 5, end_after_batch: 9}";
    expect(warned(text)).toEqual({});
    expect(parsed(yaml(text)).config).toMatchObject({
      profiling: { enabled: true, begin_on_batch: 5, end_after_batch: 9 },
    });
  });

  it("do not mention keys that affect scheduling", () => {
    const text = `
resources: {max_slots: 4, weight: 2, time_limit: 2h, is_single_node: true, constraints: {device: cuda}}
preemption_timeout: 60`;
    expect(warned(text)).toEqual({});
  });

  it("do not mention empty lists and mappings", () => {
    const text = "bind_mounts: []\nslurm: {}\nenvironment: {ports: {}, add_capabilities: []}";
    expect(warned(text)).toEqual({});
  });

  it("mention credentials only if the configuration has some", () => {
    const layer = "has no effect: the training code reads its data itself";
    expect(warned("data_layer: {type: shared_fs}")).toEqual({ data_layer: layer });
    expect(
      warned("data_layer: {type: s3, bucket: b, bucket_directory_path: p, access_key: k}"),
    ).toEqual({ data_layer: `${layer}; credentials in it are not stored` });
    expect(warned("integrations: {webhooks: {webhook_name: [a]}}")).toEqual({
      integrations:
        "has an effect on webhooks only: webhook_name picks them by name, and exclude leaves out all",
    });
  });
});

describe("a Determined launcher in the entrypoint", () => {
  const of = (entrypoint: string) => warned(`entrypoint: ${entrypoint}`)["entrypoint"];

  it.each([
    ['[python3, -m, determined.launch.deepspeed, --trial, "model_def:Net"]', "deepspeed"],
    ["python3 -m determined.launch.horovod --trial m:T", "horovod"],
  ])("causes a warning that names it: %j", (entrypoint, module) => {
    expect(of(entrypoint)).toBe(
      `runs determined.launch.${module}, a module of Determined's that trials do not have here; docs/howto/port-from-determined.md names the replacement`,
    );
  });

  it.each(["torch_distributed", "wrap_rank"])("is mapped to the same name: %s", (module) => {
    expect(of(`>-\n  python3 -m determined.launch.${module}\n  python3 train.py`)).toBe(
      `runs determined.launch.${module}, a module of Determined's that trials do not have here; write trainyard.launch.${module}`,
    );
  });

  it.each([
    "python3 -m trainyard.launch.torch python3 train.py",
    "python3 -m determinedly train.py",
    "python3 determined.py -m x",
    "[python3, train.py]",
  ])("causes no warning in %s", (entrypoint) => {
    expect(of(entrypoint)).toBe(undefined);
  });
});
