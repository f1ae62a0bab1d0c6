import { existsSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { recordedContainer } from "@trainyard/experiment-config/recorded";
import { afterAll, expect, test } from "vitest";
import { newFolder, removeFolders } from "../testing/examples.ts";
import {
  allowedSection,
  calledFolders,
  checkSaveRoot,
  type HostPlaces,
  storageMounts,
} from "./host-access.ts";

afterAll(removeFolders);

function placesWith(access: Partial<HostPlaces["access"]>, checkpointDir = ""): HostPlaces {
  const nothing = { paths: [], devices: [], capabilities: [] };
  return { access: { ...nothing, ...access }, checkpointDir, agent: "rack" };
}

const allow = (config: object, places: HostPlaces) =>
  allowedSection(recordedContainer(config, "cpu"), places);
const mountOf = (host_path: string) => ({ bind_mounts: [{ host_path, container_path: "/a" }] });
const deviceOf = (host_path: string) => ({
  resources: { devices: [{ host_path, container_path: "/dev/a" }] },
});

test.each([
  [mountOf("/"), "TRAINYARD_AGENT_CONTAINER_HOST_PATHS"],
  [
    { checkpoint_storage: { type: "shared_fs", host_path: "/", container_path: "/a" } },
    "TRAINYARD_AGENT_CONTAINER_HOST_PATHS",
  ],
  [deviceOf("/dev/null"), "TRAINYARD_AGENT_CONTAINER_DEVICES"],
  [{ environment: { add_capabilities: ["SYS_ADMIN"] } }, "TRAINYARD_AGENT_CONTAINER_CAPABILITIES"],
])("nothing of the host is allowed unless its operator says so: %j", (config, setting) => {
  expect(() => allow(config, placesWith({}))).toThrow(setting);
});

test("an unreadable path is the host's failure, and an invalid path is the configuration's failure", () => {
  const places = placesWith({ paths: ["/"] });
  const folder = newFolder();
  symlinkSync(join(folder, "a"), join(folder, "b"));
  symlinkSync(join(folder, "b"), join(folder, "a"));
  const problemOf = (path: string): unknown => {
    try {
      return allow(mountOf(path), places);
    } catch (error) {
      return error;
    }
  };
  expect(problemOf(join(folder, "a"))).toMatchObject({
    name: "LackProblem",
    message: `bind_mounts names ${folder}/a, which cannot be read (ELOOP) on agent rack`,
  });
  expect(problemOf("/no/such")).toMatchObject({ name: "LackProblem" });
  expect(problemOf(`/${"a".repeat(300)}`)).toMatchObject({ name: "LaunchProblem" });
});

test("ports below 1024 are refused", () => {
  const of = (proxy_port: number) => ({ environment: { proxy_ports: [{ proxy_port }] } });
  expect(() => allow(of(80), placesWith({}))).toThrow(
    "environment.proxy_ports names 80: ports below",
  );
  expect(allow(of(8080), placesWith({})).proxyPorts).toEqual([{ port: 8080, isTcp: false }]);
});

test("an allowed folder includes its content, and a link in it to another folder is refused", () => {
  const folder = newFolder();
  const allowed = join(folder, "data");
  mkdirSync(join(allowed, "inner"), { recursive: true });
  mkdirSync(join(folder, "data-of-others"));
  symlinkSync("/etc", join(allowed, "out"));
  symlinkSync(allowed, join(folder, "in"));
  const places = placesWith({ paths: [allowed] });
  const sourceOf = (path: string) => allow(mountOf(path), places).bindMounts[0]?.hostPath;
  expect(sourceOf(allowed)).toBe(allowed);
  expect(sourceOf(join(folder, "in", "inner"))).toBe(join(allowed, "inner"));
  for (const path of [`${allowed}/out`, `${allowed}/..`, `${allowed}-of-others`, folder, "data"]) {
    expect(() => sourceOf(path), path).toThrow("does not allow");
  }
  expect(() => sourceOf(`${allowed}/missing`)).toThrow("does not exist on agent rack");
  expect(allow(mountOf("/etc"), placesWith({ paths: ["/"] })).bindMounts[0]?.hostPath).toBe("/etc");
});

test("the allowed folders are called only for a path that is in none of them by its name: one may be a link to it", () => {
  const none = { checkpointRoot: null, tensorboardRoot: null, uploadDiskShare: null };
  const called = (path: string, checkpointDir = "") => {
    const places = placesWith({ paths: ["/a", "/b"] }, checkpointDir);
    return calledFolders(recordedContainer(mountOf(path), "cpu"), none, places);
  };
  expect(called("/a/data")).toEqual(["/a/data"]);
  expect(called("/c/data")).toEqual(["/c/data", "/a", "/b"]);
  expect(called("/a/../c")).toEqual(["/a/../c", "/a", "/b"]);
  expect(called("/c/data", "/c")).toEqual(["/c/data", "/c"]);
});

test("checkpoints and TensorBoard files are in the agent's own folder, or in one that its operator allows", () => {
  const folder = newFolder();
  const [own, other] = [join(folder, "own"), join(folder, "other")];
  const places = placesWith({}, own);
  // The whole folder is mounted, since a run could replace a folder inside by a link.
  const none = { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null };
  const mounts = (
    roots: Partial<typeof none | Record<"checkpointRoot" | "tensorboardRoot", string>>,
    at = places,
  ) => storageMounts({ ...none, ...roots }, at);
  expect(mounts({ checkpointRoot: join(own, "mine"), tensorboardRoot: join(own, "b") })).toEqual([
    own,
  ]);
  expect(existsSync(own)).toBe(true);
  expect(allow(mountOf(own), places).bindMounts[0]?.hostPath).toBe(own);
  expect(() => allow(mountOf(join(own, "mine")), places)).toThrow("does not allow");
  expect(() => mounts({ checkpointRoot: other })).toThrow("checkpoint_storage names");
  expect(() => mounts({ tensorboardRoot: other })).toThrow("tensorboard_storage names");
  expect(existsSync(other)).toBe(false);
  const both = { checkpointRoot: own, tensorboardRoot: other };
  expect(mounts(both, placesWith({ paths: [other] }, own))).toEqual([own, other]);
  // An object store takes TensorBoard files from the run's folder, which is mounted already.
  expect(mounts({ tensorboardRoot: "" })).toEqual([]);
  expect(existsSync(other)).toBe(true);
});

test("the saves of a task are in the agent's own folder, or in one that its operator allows", () => {
  const folder = newFolder();
  const [own, other] = [join(folder, "own"), join(folder, "other")];
  const none = { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null };
  const check = (saveRoot: string | null, at = placesWith({}, own)) =>
    checkSaveRoot({ ...none, saveRoot }, at);
  for (const root of [own, join(own, "mine"), null]) check(root);
  expect(() => check(other)).toThrow("checkpoint_storage names");
  expect(existsSync(other)).toBe(false);
  check(other, placesWith({ paths: [other] }, own));
});

test("a configuration that names GPUs is refused, even if all devices are allowed", () => {
  const places = placesWith({ devices: ["/"] });
  const link = join(newFolder(), "a");
  symlinkSync("/dev/dri/renderD128", link);
  for (const path of ["/dev/nvidia0", "/dev/nvidia-caps/x", "/dev/dri", "/dev/kfd", "/dev"]) {
    expect(() => allow(deviceOf(path), places), path).toThrow("which has GPUs");
  }
  expect(allow(deviceOf("/dev/null"), places).devices[0]?.hostPath).toBe("/dev/null");
  expect(() => allow(deviceOf("/dev/zero"), placesWith({ devices: ["/dev/null"] }))).toThrow(
    "does not allow",
  );
});

test("a capability means the same with and without CAP_", () => {
  const config = { environment: { add_capabilities: ["cap_sys_ptrace"] } };
  expect(allow(config, placesWith({ capabilities: ["SYS_PTRACE"] })).addCapabilities).toEqual([
    "cap_sys_ptrace",
  ]);
  expect(() => allow(config, placesWith({ capabilities: ["IPC_LOCK"] }))).toThrow("cap_sys_ptrace");
  const all = { environment: { add_capabilities: ["ALL"] } };
  expect(() => allow(all, placesWith({ capabilities: ["SYS_PTRACE"] }))).toThrow("names ALL");
  expect(allow(all, placesWith({ capabilities: ["*"] })).addCapabilities).toEqual(["ALL"]);
});
