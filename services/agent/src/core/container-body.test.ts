import { recordedContainer } from "@trainyard/experiment-config/recorded";
import { expect, test } from "vitest";
import { type ContainerPlace, containerBody, type EngineKind } from "./container-body.ts";
import { libpodBody } from "./libpod-body.ts";

const settings = {
  image: "",
  network: "host",
  memoryBytes: null,
  cpus: null,
  ulimits: [],
  user: "0:0",
  access: { paths: [], devices: [], capabilities: [] },
};
const gpu = { id: "0", device: "cuda", uuid: "GPU-a", memoryBytes: 0, model: "" } as const;

function bodyWith(slots: ContainerPlace["slots"], engine: EngineKind, config: object = {}) {
  const place = {
    image: "any",
    argv: ["true"],
    environment: { NVIDIA_VISIBLE_DEVICES: "all" },
    runDir: "/run",
    pipes: "/pipes",
    work: "/work",
    sdkPath: null,
    checkpointMount: null,
    slots,
    labels: {},
  };
  return containerBody(place, recordedContainer(config), settings, engine);
}

test("NVIDIA's runtime is told the GPUs of the run's slots, whatever the configuration sets", () => {
  expect(bodyWith([], "docker").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=void"]);
  expect(bodyWith([gpu], "docker").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=GPU-a"]);
  // Its GPUs come by their CDI names.
  expect(bodyWith([gpu], "podman").Env).toEqual(["NVIDIA_VISIBLE_DEVICES=void"]);
});

test("Podman's own API gets the place and the mode of a device, and no process gains privileges", () => {
  const devices = [{ host_path: "/dev/a", container_path: "/dev/b", mode: "r" }];
  const body = bodyWith([gpu], "podman", { resources: { devices } });
  expect(body.HostConfig.SecurityOpt).toContain("no-new-privileges");
  expect(libpodBody("name", body, ["nvidia.com/gpu=GPU-a"])).toMatchObject({
    devices: [{ path: "/dev/a:/dev/b:r" }, { path: "nvidia.com/gpu=GPU-a" }],
    no_new_privileges: true,
  });
});
