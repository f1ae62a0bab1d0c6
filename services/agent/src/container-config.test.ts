import { expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { socketOf, userOf } from "./container-config.ts";

const required = {
  TRAINYARD_NATS_URL: "unused",
  TRAINYARD_AGENT_DIR: "/a",
  TRAINYARD_API_URL: "http://127.0.0.1:1",
  TRAINYARD_METRICS_URL: "http://127.0.0.1:2",
};
const containerOf = (more: Readonly<Record<string, string>>) =>
  parseConfig({ ...required, ...more }).container;

test("without container settings runs are processes without limits", () => {
  expect(containerOf({})).toEqual({
    runtime: "auto",
    socket: "",
    authFile: "",
    pullTimeoutMs: 3_600_000,
    image: "",
    network: "host",
    cpus: null,
    ulimits: [],
    user: "",
    access: { paths: [], devices: [], capabilities: [] },
    apiUrl: null,
    metricsUrl: null,
  });
});

test("limits are parsed in the notation of the container engines", () => {
  expect(
    containerOf({
      TRAINYARD_AGENT_ENGINE_SOCKET: "unix:///run/a.sock",
      TRAINYARD_AGENT_CONTAINER_CPUS: "2.5",
      TRAINYARD_AGENT_CONTAINER_ULIMITS: "nofile=10:20,nproc=5",
    }),
  ).toMatchObject({
    socket: "/run/a.sock",
    cpus: 2.5,
    ulimits: [
      { Name: "nofile", Soft: 10, Hard: 20 },
      { Name: "nproc", Soft: 5, Hard: 5 },
    ],
  });
});

test.each([
  ["90s", 90_000],
  ["1.5h", 5_400_000],
  ["600", 600_000],
])("a pull timeout of %s is accepted", (TRAINYARD_AGENT_PULL_TIMEOUT, pullTimeoutMs) => {
  expect(containerOf({ TRAINYARD_AGENT_PULL_TIMEOUT })).toMatchObject({ pullTimeoutMs });
});

test.each(["0", "soon", "-1h", "30d"])(
  "a pull timeout of %s is refused",
  (TRAINYARD_AGENT_PULL_TIMEOUT) => {
    expect(() => containerOf({ TRAINYARD_AGENT_PULL_TIMEOUT })).toThrow(
      /TRAINYARD_AGENT_PULL_TIMEOUT: must be a time, such as/,
    );
  },
);

test("lists name the paths and devices of the host that containers may use", () => {
  expect(
    containerOf({
      TRAINYARD_AGENT_CONTAINER_HOST_PATHS: "/data, /srv/models",
      TRAINYARD_AGENT_CONTAINER_DEVICES: "/dev/infiniband",
      TRAINYARD_AGENT_CONTAINER_CAPABILITIES: "SYS_PTRACE,IPC_LOCK",
    }).access,
  ).toEqual({
    paths: ["/data", "/srv/models"],
    devices: ["/dev/infiniband"],
    capabilities: ["SYS_PTRACE", "IPC_LOCK"],
  });
});

test.each([
  ["TRAINYARD_AGENT_RUNTIME", "lxc"],
  ["TRAINYARD_AGENT_MEMORY", "much"],
  ["TRAINYARD_AGENT_PIDS", "0"],
  ["TRAINYARD_AGENT_CONTAINER_CPUS", "0"],
  ["TRAINYARD_AGENT_CONTAINER_ULIMITS", "nofile"],
  ["TRAINYARD_AGENT_CONTAINER_USER", "root"],
  ["TRAINYARD_AGENT_CONTAINER_HOST_PATHS", "data"],
  ["TRAINYARD_AGENT_CONTAINER_DEVICES", "/dev/a,b"],
])("the container setting %s refuses the value %s", (name, value) => {
  expect(() => containerOf({ [name]: value })).toThrow(name);
});

test("an engine that is configured but has no socket is refused with advice", () => {
  expect(socketOf("docker", "/named", 0)).toBe("/named");
  expect(() => socketOf("podman", "", 4_000_000)).toThrow(
    /no \/run\/user\/4000000\/podman\/podman\.sock: start the engine's service, or set TRAINYARD_AGENT_ENGINE_SOCKET/,
  );
});

test("the user of a container is one whose files the agent can remove", () => {
  const config = containerOf({});
  expect(userOf(config, "podman", 1000, 100)).toBe("0:0");
  expect(userOf(config, "docker", 0, 0)).toBe("0:0");
  expect(userOf(config, "docker", 1000, 100)).toBe("1000:100");
  const named = containerOf({ TRAINYARD_AGENT_CONTAINER_USER: "7:8" });
  expect(userOf(named, "docker", 1000, 100)).toBe("7:8");
});
