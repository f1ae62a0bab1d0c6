import { expect, test } from "vitest";
import { launchOf } from "../testing/examples.ts";
import { environmentOf, type Surroundings } from "./environment.ts";

const surroundings: Surroundings = {
  apiUrl: "http://gateway",
  metricsUrl: "http://metrics",
  sdkPath: "/sdk",
  runDir: "/runs/1",
  home: null,
  storages: { checkpointRoot: null, uploadDiskShare: null, tensorboardRoot: null },
  slots: [],
  inherited: {
    PATH: "/bin",
    PYTHONPATH: "/mine",
    TRAINYARD_SDK_PATH: "/sdk",
    PGPASSWORD: "x",
    OTEL_EXPORTER_OTLP_HEADERS: "key=x",
  },
};

test("the SDK of the agent comes first in PYTHONPATH", () => {
  expect(environmentOf(launchOf("true"), surroundings)).toMatchObject({
    PATH: "/bin",
    PYTHONPATH: "/sdk:/mine",
  });
  const alone = { ...surroundings, inherited: {} };
  expect(environmentOf(launchOf("true"), alone)["PYTHONPATH"]).toBe("/sdk");
});

test("without an SDK path the agent keeps PYTHONPATH unchanged, so that the installed package is used", () => {
  const installed = { ...surroundings, sdkPath: null };
  expect(environmentOf(launchOf("true"), installed)["PYTHONPATH"]).toBe("/mine");
  expect(environmentOf(launchOf("true"), { ...installed, inherited: {} })).not.toHaveProperty(
    "PYTHONPATH",
  );
});

test("a training process inherits neither settings nor credentials of the platform", () => {
  const environment = environmentOf(launchOf("true"), surroundings);
  expect(environment).not.toHaveProperty("TRAINYARD_SDK_PATH");
  expect(environment).not.toHaveProperty("PGPASSWORD");
  expect(environment).not.toHaveProperty("OTEL_EXPORTER_OTLP_HEADERS");
});

test("a training process has the traceparent of its launch, and none without one", () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  expect(environmentOf({ ...launchOf("true"), traceparent }, surroundings)).toMatchObject({
    TRACEPARENT: traceparent,
  });
  const inherited = { TRACEPARENT: traceparent };
  expect(environmentOf(launchOf("true"), { ...surroundings, inherited })).not.toHaveProperty(
    "TRACEPARENT",
  );
});

test("a training process knows the addresses of all nodes of its run, by rank", () => {
  const launch = { ...launchOf("true"), nodeAddresses: ["10.0.0.7", "fe80::1"] };
  expect(environmentOf(launch, surroundings)["TRAINYARD_NODE_ADDRS"]).toBe("10.0.0.7,fe80::1");
});

test("a training process gets its configuration's text unchanged, and learns whether the search needs the metric", () => {
  const config = '{"name": "example", "data": {"n": 1.0}}';
  expect(
    environmentOf({ ...launchOf("true"), config, searchNeedsMetric: true }, surroundings),
  ).toMatchObject({ TRAINYARD_CONFIG: config, TRAINYARD_SEARCH_NEEDS_METRIC: "1" });
  expect(environmentOf(launchOf("true"), surroundings)).toMatchObject({
    TRAINYARD_SEARCH_NEEDS_METRIC: "0",
  });
});

test("a run whose checkpoints are uploaded seals them in its own folder, in a share of the disk", () => {
  const storages = { ...surroundings.storages, uploadDiskShare: 0.25 };
  const uploading = { ...surroundings, storages };
  expect(environmentOf(launchOf("true"), uploading)).toMatchObject({
    TRAINYARD_CHECKPOINT_ROOT: "/runs/1/checkpoints",
    TRAINYARD_CHECKPOINT_UPLOADS: "1",
    TRAINYARD_CHECKPOINT_DISK_SHARE: "0.25",
  });
  expect(environmentOf(launchOf("true"), surroundings)).not.toHaveProperty(
    "TRAINYARD_CHECKPOINT_UPLOADS",
  );
});

test("a run gets the root of its TensorBoard files only if they have a storage of their own", () => {
  const rootIn = (tensorboardRoot: string | null) => {
    const storages = { ...surroundings.storages, checkpointRoot: "/c", tensorboardRoot };
    const environment = environmentOf(launchOf("true"), { ...surroundings, storages });
    return environment["TRAINYARD_TENSORBOARD_ROOT"];
  };
  expect([rootIn(null), rootIn(""), rootIn("/boards")]).toEqual([undefined, "", "/boards"]);
});

test("a task has its own id and kind, and nothing by which the SDK would take it for a trial", () => {
  const task = { id: "t12", kind: "command", secret: "s" };
  const launch = launchOf("true", { experiment: "", trial: "", task });
  const environment = environmentOf(launch, surroundings);
  expect(environment).toMatchObject({
    TRAINYARD_TASK_ID: "t12",
    TRAINYARD_TASK_KIND: "command",
    TRAINYARD_TASK_SECRET: "s",
    TRAINYARD_URL: "http://gateway",
    TRAINYARD_RUN: "1",
  });
  const named = Object.keys(environment).filter((name) =>
    /TRIAL|EXPERIMENT|HPARAMS|METRICS|CHECKPOINT|TENSORBOARD|MASTER|RANK/.test(name),
  );
  expect(named).toEqual([]);
});
