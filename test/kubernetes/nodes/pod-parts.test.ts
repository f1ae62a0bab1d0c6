/** The parts of a node that need no Podman. */
import { mkdtempSync, readFileSync, readlinkSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createObjectStore } from "../api/store/create-store.ts";
import { Objects, type Pod } from "../controllers/kinds.ts";
import type { ContainerState, ContainerStatus } from "../controllers/pod-kinds.ts";
import { readLog } from "./container-log.ts";
import { containerSpec } from "./container-spec.ts";
import { environmentOf, expanded } from "./environment.ts";
import { podStatus } from "./pod-status.ts";
import { quantity } from "../api/validation/quantity.ts";
import { lacking } from "./unsupported.ts";
import { writeFiles } from "./volume-files.ts";
import { makeVolumes } from "./volumes.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "ty-parts-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const pod = (more: object = {}, metadata: object = {}): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "web-0", namespace: "default", uid: "u1", ...metadata },
  spec: { containers: [{ name: "main", image: "web:1" }], ...more },
});

test("references to variables are replaced by those that are known before them", () => {
  expect(expanded("$(A) $(B) $$(A) $A $(", { A: "1" })).toBe("1 $(B) $(A) $A $(");
  const env = [
    { name: "LATE", value: "$(EARLY)" },
    { name: "EARLY", value: "1" },
    { name: "SUM", value: "$(EARLY)$(LATE)" },
  ];
  const facts = { podIP: "10.0.0.1", hostIP: "10.0.0.2", nodeName: "n", allocatable: {} };
  const objects = new Objects(createObjectStore());
  const made = environmentOf({ name: "main", image: "web:1", env }, { objects, pod: pod(), facts });
  expect(made).toEqual({ HOSTNAME: "web-0", LATE: "$(EARLY)", EARLY: "1", SUM: "1$(EARLY)" });
});

test("quantities have decimal and binary suffixes", () => {
  const texts = ["100m", "2", "1Gi", "1.5G", "1e3", ".5"];
  expect(texts.map((text) => quantity(text))).toEqual([0.1, 2, 2 ** 30, 1.5e9, 1_000, 0.5]);
  expect(() => quantity("1 GB")).toThrow("1 GB is no quantity");
});

const status = (state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus => ({
  name: "main",
  image: "web:1",
  imageID: "",
  ready: false,
  started: false,
  restartCount: 0,
  state,
  lastState: {},
  ...more,
});

const ended = (exitCode: number): ContainerState => ({
  terminated: { exitCode, reason: "", startedAt: "", finishedAt: "", containerID: "" },
});
const running: ContainerState = { running: { startedAt: "" } };
const waiting: ContainerState = { waiting: { reason: "CrashLoopBackOff" } };
const around = { podIP: "10.0.0.1", hostIP: "10.0.0.2", startedAt: "", now: "now" };

test("a pod's phase follows its containers, its restart policy and its deletion", () => {
  const phase = (of: Pod, ...states: ContainerStatus[]): unknown =>
    podStatus(of, [], states, around).phase;
  const never = pod({ restartPolicy: "Never" });
  const onFailure = pod({ restartPolicy: "OnFailure" });
  expect(phase(pod(), status({ waiting: { reason: "ContainerCreating" } }))).toBe("Pending");
  expect(phase(pod(), status(running))).toBe("Running");
  expect(phase(pod(), status(waiting, { lastState: ended(1) }))).toBe("Running");
  expect(phase(pod(), status(ended(0)))).toBe("Running");
  expect(phase(never, status(ended(0)), status(running))).toBe("Running");
  expect(phase(never, status(ended(0)), status(ended(1)))).toBe("Failed");
  expect(phase(onFailure, status(ended(0)))).toBe("Succeeded");
  expect(phase(onFailure, status(ended(1)))).toBe("Running");
  const deleted = pod({}, { deletionTimestamp: "2026-01-01T00:00:00Z" });
  expect(phase(deleted, status(ended(143)))).toBe("Failed");
  expect(phase(deleted, status(ended(0)))).toBe("Succeeded");
});

test("the conditions of a pod say which containers it waits for, and since when", () => {
  const conditions = (of: Pod, init: ContainerStatus[], main: ContainerStatus[]) =>
    Object.fromEntries(
      (podStatus(of, init, main, around).conditions ?? []).map((one) => [one.type, one]),
    );
  const first = conditions(pod(), [status(running, { name: "init" })], [status(waiting)]);
  expect(first["Initialized"]).toMatchObject({
    status: "False",
    reason: "ContainersNotInitialized",
    message: "containers with incomplete status: [init]",
  });
  expect(first["Ready"]).toMatchObject({
    status: "False",
    reason: "ContainersNotReady",
    message: "containers with unready status: [main]",
  });
  const before = { type: "Ready", status: "True" as const, lastTransitionTime: "before" };
  const other = { type: "Mine", status: "True" as const };
  const old = { ...pod(), status: { conditions: [before, other] } };
  const later = conditions(old, [], [status(running, { ready: true })]);
  expect(later["Ready"]).toMatchObject({ status: "True", lastTransitionTime: "before" });
  expect(later["ContainersReady"]).toMatchObject({ status: "True", lastTransitionTime: "now" });
  expect(later["Mine"]).toEqual(other);
  const done = conditions(pod({ restartPolicy: "Never" }), [], [status(ended(0))]);
  expect(done["Ready"]).toMatchObject({ status: "False", reason: "PodCompleted" });
});

test("a container's request has its pod's user, and its own before it", () => {
  const places = {
    name: "c",
    network: "/run/netns/x",
    hostname: "web-0",
    hosts: "/h",
    resolver: "/r",
    termination: "/t",
    log: "/l",
    volumes: new Map(),
  };
  const image = { id: "i", digest: "", user: "app", stopSignal: "SIGTERM" };
  const made = (own: object, of: object = {}) =>
    containerSpec({ name: "main", image: "web:1", ...own }, pod(of), image, {}, places);
  const secured = { securityContext: { runAsUser: 1, runAsGroup: 2, fsGroup: 3 } };
  expect(made({}, secured)).toMatchObject({ user: "1:2", groups: ["3"] });
  expect(made({ securityContext: { runAsUser: 9 } }, secured)).toMatchObject({ user: "9:2" });
  expect(made({})).toMatchObject({ user: "app", seccomp_profile_path: "unconfined" });
  const resources = { limits: { cpu: "500m", memory: "1Mi" }, requests: { cpu: "250m" } };
  expect(made({ resources })["resource_limits"]).toEqual({
    memory: { limit: 2 ** 20, swap: 2 ** 20 },
    cpu: { shares: 256, quota: 50_000, period: 100_000 },
  });
  const nonRoot = { securityContext: { runAsNonRoot: true } };
  expect(() => made(nonRoot)).toThrow("image has non-numeric user (app), cannot verify");
  expect(() => made({ securityContext: { runAsNonRoot: true, runAsUser: 0 } })).toThrow(
    "container's runAsUser breaks non-root policy",
  );
});

test("a log is read from its end, since a time, with times, and up to a number of bytes", async () => {
  const path = join(newFolder(), "log");
  const lines = ["one", "two", "three"].map(
    (text, at) => `2026-01-01T00:00:0${at}.5+00:00 stdout F ${text}\n`,
  );
  writeFileSync(
    path,
    `${lines.join("")}2026-01-01T00:00:03.5+00:00 stderr P par\n2026-01-01T00:00:03.6+00:00 stderr F tial\n`,
  );
  const read = async (options: object): Promise<string> => {
    let text = "";
    for await (const part of readLog(path, options, () => true)) text += part;
    return text;
  };
  expect(await read({})).toBe("one\ntwo\nthree\npartial\n");
  expect(await read({ tailLines: 2 })).toBe("three\npartial\n");
  expect(await read({ tailLines: 0 })).toBe("");
  expect(await read({ tailLines: 99, limitBytes: 5 })).toBe("one\nt");
  expect(await read({ sinceTime: "2026-01-01T00:00:02Z", limitBytes: 6 })).toBe("three\n");
  expect(await read({ timestamps: true, limitBytes: 30 })).toBe("2026-01-01T00:00:00.5Z one\n202");
});

test("files of a volume change together, and an equal content changes nothing", () => {
  const folder = newFolder();
  const file = (path: string, text: string) => ({ path, bytes: Buffer.from(text), mode: 0o400 });
  writeFiles(folder, [file("a", "1"), file("sub/b", "2")], 3_000);
  expect(readlinkSync(join(folder, "a"))).toBe("..data/a");
  expect(readFileSync(join(folder, "sub/b"), "utf8")).toBe("2");
  expect(statSync(join(folder, "a")).mode & 0o777).toBe(0o440);
  const version = readlinkSync(join(folder, "..data"));
  writeFiles(folder, [file("a", "1"), file("sub/b", "2")], 3_000);
  expect(readlinkSync(join(folder, "..data"))).toBe(version);
  writeFiles(folder, [file("a", "3")], null);
  expect(readFileSync(join(folder, "a"), "utf8")).toBe("3");
  expect(() => readFileSync(join(folder, "sub/b"))).toThrow("ENOENT");
});

test("a volume of a missing object or key cannot be made, unless it is optional", () => {
  const objects = new Objects(createObjectStore());
  const folder = newFolder();
  const facts = { podIP: "", hostIP: "", nodeName: "", allocatable: {} };
  const made = (volume: object): unknown =>
    makeVolumes({
      objects,
      pod: pod({ volumes: [{ name: "v", ...volume }] }),
      folder,
      claims: folder,
      facts,
      tokenFor: () => "",
    });
  const failed = 'MountVolume.SetUp failed for volume "v" : ';
  expect(() => made({ secret: { secretName: "s" } })).toThrow(`${failed}secret "s" not found`);
  expect(() => made({ configMap: { name: "m" } })).toThrow(`${failed}configmap "m" not found`);
  expect(made({ secret: { secretName: "s", optional: true } })).toBeInstanceOf(Map);
  const metadata = { name: "m", namespace: "default" };
  objects.create("configmaps", { apiVersion: "v1", kind: "ConfigMap", metadata, data: { a: "1" } });
  const items = [{ key: "b", path: "b" }];
  expect(() => made({ configMap: { name: "m", items } })).toThrow(
    "references non-existent config key: b",
  );
  const claim = { persistentVolumeClaim: { claimName: "c" } };
  expect(() => made(claim)).toThrow('persistentvolumeclaim "c" not found');
});

test("required affinity, which the node does not read, is lacking, and preferred one is not", () => {
  const pod = (rule: string): Pod => ({
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "default" } },
    spec: { containers: [], affinity: { podAntiAffinity: { [rule]: [] } } },
  });
  const when = "DuringSchedulingIgnoredDuringExecution";
  expect(lacking(pod(`required${when}`), {})).toBe("required podAntiAffinity");
  expect(lacking(pod(`preferred${when}`), {})).toBeNull();
});
