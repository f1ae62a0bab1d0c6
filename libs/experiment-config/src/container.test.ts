import { expect, test } from "vitest";
import { bytesOf, recordedContainer } from "./container.ts";
import { parsed, yaml } from "./testing/documents.ts";

test.each([
  [4_294_967_296, 4_294_967_296],
  ["4G", 4 * 1024 ** 3],
  ["1.5 gb", 1.5 * 1024 ** 3],
  ["512MiB", 512 * 1024 ** 2],
  [".5k", 512],
  ["100b", 100],
  ["100", 100],
  ["1.gb", null],
  ["", null],
  [-1, null],
  [null, null],
])("memory size %s is %s bytes", (text, bytes) => {
  expect(bytesOf(text)).toBe(bytes);
});

test("a record without container keys makes a container without an image name", () => {
  expect(recordedContainer({}, "cpu")).toEqual(recordedContainer(null, "cpu"));
  expect(recordedContainer({}, "cuda").image).toBe("");
});

test("the container keys of a document reach the agent in their normalised shapes", () => {
  const { config } = parsed(
    yaml(`
environment: {image: {cpu: a, gpu: b, rocm: c}, force_pull_image: true, add_capabilities: [SYS_PTRACE], drop_capabilities: [NET_RAW]}
resources: {shm_size: 2G, devices: ["/dev/fuse:/dev/fuse:rw"]}
bind_mounts: [{host_path: /data, container_path: data}, {host_path: /ro, container_path: /ro, read_only: true}]
checkpoint_storage: {type: shared_fs, host_path: /mnt/a, container_path: /b, propagation: rslave}`),
  );
  expect(recordedContainer(config, "rocm").image).toBe("c");
  expect(recordedContainer(config, "cuda")).toEqual({
    image: "b",
    forcePull: true,
    shmBytes: 2 * 1024 ** 3,
    devices: [{ hostPath: "/dev/fuse", containerPath: "/dev/fuse", mode: "rw" }],
    bindMounts: [
      { hostPath: "/data", containerPath: "data", readOnly: false, propagation: "rprivate" },
      { hostPath: "/ro", containerPath: "/ro", readOnly: true, propagation: "rprivate" },
    ],
    addCapabilities: ["SYS_PTRACE"],
    dropCapabilities: ["NET_RAW"],
    storageMount: { hostPath: "/mnt/a", containerPath: "/b", propagation: "rslave" },
    proxyPorts: [],
  });
});

test("an image given as text applies to every kind of device", () => {
  const { config } = parsed(yaml("environment: {image: localhost/a:1}"));
  for (const device of ["cpu", "cuda", "rocm"] as const) {
    expect(recordedContainer(config, device).image).toBe("localhost/a:1");
  }
});
