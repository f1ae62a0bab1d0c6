import { afterAll, expect, test } from "vitest";
import { parseConfig } from "./config.ts";
import { createService } from "./service.ts";
import { newFolder, removeFolders } from "./testing/examples.ts";

afterAll(removeFolders);

const required = {
  TRAINYARD_NATS_URL: "127.0.0.1:1",
  TRAINYARD_AGENT_DIR: newFolder(),
  TRAINYARD_API_URL: "http://127.0.0.1:1",
  TRAINYARD_METRICS_URL: "http://127.0.0.1:1",
};

test("an agent needs no PostgreSQL settings, and without an SDK path its runs use the installed package", () => {
  const config = parseConfig(required);
  expect(config).not.toHaveProperty("postgresUrl");
  expect(config.sdkPath).toBeNull();
});

test("an agent has the labels of its settings", () => {
  const labelsOf = (text: string) =>
    parseConfig({ ...required, TRAINYARD_AGENT_LABELS: text }).labels;
  expect(parseConfig(required).labels).toEqual({});
  expect(labelsOf("zone=a, rack = r3,example.com/gpu=a100-sxm4,")).toEqual({
    zone: "a",
    rack: "r3",
    "example.com/gpu": "a100-sxm4",
  });
});

test("a limit of saved folders that is empty is none, also for the program that saves, which gets it as JSON", () => {
  const { work } = parseConfig({ ...required, TRAINYARD_AGENT_WORK_BYTES: "" });
  expect(JSON.parse(JSON.stringify(work))).toEqual({
    bytesMax: Number.MAX_SAFE_INTEGER,
    filesMax: 100_000,
    everyMs: 600_000,
  });
});

test("runs have no limits by default, and a /dev/shm and a /tmp of their own", () => {
  const none = { slotLimits: { memoryBytes: null, pids: null }, privateTmp: true };
  expect(parseConfig(required)).toMatchObject(none);
  const set = {
    TRAINYARD_AGENT_MEMORY: "1.5G",
    TRAINYARD_AGENT_PIDS: "4096",
    TRAINYARD_AGENT_PRIVATE_TMP: "false",
  };
  expect(parseConfig({ ...required, ...set })).toMatchObject({
    slotLimits: { memoryBytes: 1.5 * 1024 ** 3, pids: 4096 },
    privateTmp: false,
  });
});

test.each([
  ["zone", '"zone" is not a label: write name=value'],
  ["zone=a=b", '"zone=a=b" is not a label: write name=value'],
  ["zone=", '"zone=" is not a label: name and value are up to 63 letters'],
  ["zo ne=a", '"zo ne=a" is not a label: name and value are'],
  ["__proto__=a", '"__proto__=a" is not a label'],
  ["zone=a,rack=r,zone=b", "label zone is there twice, as a and as b"],
])("an agent refuses to start with the labels %j, and gives the reason", (text, sentence) => {
  expect(() => parseConfig({ ...required, TRAINYARD_AGENT_LABELS: text })).toThrow(
    `TRAINYARD_AGENT_LABELS: ${sentence}`,
  );
});

test("an agent refuses to start with an SDK path that has no package trainyard", async () => {
  const config = parseConfig({ ...required, TRAINYARD_SDK_PATH: newFolder() });
  await expect(createService(config)).rejects.toThrow(/TRAINYARD_SDK_PATH.*no Python package/);
});
