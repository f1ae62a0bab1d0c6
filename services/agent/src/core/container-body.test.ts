import { recordedContainer } from "@trainyard/experiment-config/recorded";
import { expect, test } from "vitest";
import { type ContainerPlace, containerBody, type EngineKind } from "./container-body.ts";
import { libpodBody } from "./libpod-body.ts";

const settings = {
  image: "",
  network: "host",
  memoryBytes: 1024,
  pids: 100,
  cpus: null,
  ulimits: [],
  user: "0:0",
  access: { paths: [], devices: [], capabilities: [] },
};
const gpu = { id: "0", device: "cuda", uuid: "GPU-a", memoryBytes: 0, model: "" } as const;

function bodyWith(
  slots: ContainerPlace["slots"],
  engine: EngineKind,
  config: object = {},
  network = "host",
  board: string | null = null,
) {
  const place = {
    image: "any",
    argv: ["true"],
    environment: { NVIDIA_VISIBLE_DEVICES: "all" },
    runDir: "/run",
    pipes: "/pipes",
    work: "/work",
    sdkPath: null,
    holder: null,
    packages: null,
    board,
    storageFolders: [],
    slots,
    labels: {},
  };
  return containerBody(place, recordedContainer(config, "cpu"), { ...settings, network }, engine);
}

test("NVIDIA's runtime gets exactly the GPUs of the run's slots, whatever the configuration sets", () => {
  expect(bodyWith([], "docker").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=void"]);
  expect(bodyWith([gpu], "docker").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=GPU-a"]);
  // Podman gets the run's GPUs by their CDI names.
  expect(bodyWith([gpu], "podman").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=void"]);
});

test("Podman's own API gets the path and the mode of a device, and processes gain no privileges", () => {
  const devices = [{ host_path: "/dev/a", container_path: "/dev/b", mode: "r" }];
  const body = bodyWith([gpu], "podman", { resources: { devices } });
  expect(body.HostConfig.SecurityOpt).toContain("no-new-privileges");
  expect(libpodBody("name", body, ["nvidia.com/gpu=GPU-a"])).toMatchObject({
    devices: [{ path: "/dev/a:/dev/b:r" }, { path: "nvidia.com/gpu=GPU-a" }],
    no_new_privileges: true,
  });
});

test("a container mounts the files of a TensorBoard read-only, at their own path", () => {
  const mounts = bodyWith([], "docker", {}, "host", "/board").HostConfig.Mounts;
  expect(mounts.find(({ Source }) => Source === "/board")).toMatchObject({
    Target: "/board",
    ReadOnly: true,
  });
});

const proxied = {
  environment: { proxy_ports: [{ proxy_port: 6006 }, { proxy_port: 6379, proxy_tcp: true }] },
};

test("ports of a container with its own network are published on the host under the same numbers", () => {
  const body = bodyWith([gpu], "podman", proxied, "bridge");
  expect(body).toMatchObject({
    ExposedPorts: { "6006/tcp": {}, "6379/tcp": {} },
    HostConfig: {
      PortBindings: { "6006/tcp": [{ HostPort: "6006" }], "6379/tcp": [{ HostPort: "6379" }] },
    },
  });
  expect(libpodBody("name", body, [])["portmappings"]).toEqual([
    { container_port: 6006, host_port: 6006, protocol: "tcp" },
    { container_port: 6379, host_port: 6379, protocol: "tcp" },
  ]);
});

test.each(["host", "none"])("no port is published in the network %s", (network) => {
  const body = bodyWith([], "docker", proxied, network);
  expect(body).not.toHaveProperty("ExposedPorts");
  expect(body.HostConfig).not.toHaveProperty("PortBindings");
});

test("a shared_fs storage is mounted at its container_path with its propagation", () => {
  const storage = { type: "shared_fs", host_path: "/mnt/a", container_path: "/b" };
  const mountsWith = (more: object) =>
    bodyWith([], "docker", { checkpoint_storage: { ...storage, ...more } }).HostConfig.Mounts;
  const bound = { Type: "bind", Source: "/mnt/a", Target: "/b", ReadOnly: false };
  for (const [more, Propagation] of [
    [{}, "rprivate"],
    [{ propagation: "rslave" }, "rslave"],
  ] as const) {
    expect(mountsWith(more)).toContainEqual({ ...bound, BindOptions: { Propagation } });
  }
});

test("a container has the limits of its slots, and without slots those of one", () => {
  const limits = [[gpu, gpu], [gpu], []].map((slots) => bodyWith(slots, "docker"));
  expect(limits.map(({ HostConfig }) => HostConfig)).toMatchObject([
    { Memory: 2048, MemorySwap: 2048, PidsLimit: 200 },
    { Memory: 1024, MemorySwap: 1024, PidsLimit: 100 },
    { Memory: 1024, MemorySwap: 1024, PidsLimit: 100 },
  ]);
  const [two] = limits;
  if (two === undefined) throw new Error("there is a body for two slots");
  expect(libpodBody("name", two, [])).toMatchObject({
    resource_limits: { memory: { limit: 2048, swap: 2048 }, pids: { limit: 200 } },
  });
});
