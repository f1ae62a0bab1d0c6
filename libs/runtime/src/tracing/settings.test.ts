import { expect, test } from "vitest";
import { tracingOf, tracingSettings } from "./settings.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/" };

test("without an endpoint no traces are sent, and none with an exporter that is off", () => {
  expect(tracingSettings({})).toBe(null);
  expect(tracingSettings({ OTEL_TRACES_SAMPLER: "always_on" })).toBe(null);
  expect(tracingSettings({ ...endpoint, OTEL_TRACES_EXPORTER: "none" })).toBe(null);
  expect(tracingSettings({ ...endpoint, OTEL_SDK_DISABLED: "true" })).toBe(null);
  expect(tracingOf({})).toEqual({});
});

test("spans go to /v1/traces below the endpoint, or to the address of traces as it is", () => {
  expect(tracingSettings(endpoint)).toMatchObject({
    url: "http://127.0.0.1:4318/v1/traces",
    protocol: "http/protobuf",
    sampler: { name: "always_on" },
    queue: { max: 2_048, batchMax: 512 },
  });
  const own = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "https://traces.example/in" };
  expect(tracingSettings({ ...endpoint, ...own })).toMatchObject({
    url: "https://traces.example/in",
  });
});

test("the sampler decides on traces that begin here, with or without parentbased in its name", () => {
  const ratio = { OTEL_TRACES_SAMPLER: "parentbased_traceidratio", OTEL_TRACES_SAMPLER_ARG: "0.1" };
  expect(tracingSettings({ ...endpoint, ...ratio })).toMatchObject({
    sampler: { name: "traceidratio", ratio: 0.1 },
  });
});

test("headers are decoded, and a number that is none has its default", () => {
  const more = {
    OTEL_EXPORTER_OTLP_HEADERS: "key=a%20b, other=1=2",
    OTEL_BSP_MAX_QUEUE_SIZE: "many",
  };
  expect(tracingSettings({ ...endpoint, ...more })).toMatchObject({
    headers: { key: "a b", other: "1=2" },
    queue: { max: 2_048 },
  });
});

test("a wrong setting has one sentence without its value, which may be a secret", () => {
  const wrong = [
    { OTEL_EXPORTER_OTLP_ENDPOINT: "x" },
    { OTEL_EXPORTER_OTLP_ENDPOINT: "file:///x" },
    { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: "x" },
    { ...endpoint, OTEL_TRACES_EXPORTER: "x" },
    { ...endpoint, OTEL_TRACES_SAMPLER: "x" },
    { ...endpoint, OTEL_TRACES_SAMPLER: "traceidratio", OTEL_TRACES_SAMPLER_ARG: "2" },
  ];
  for (const variables of wrong) {
    expect(tracingSettings(variables)).toMatch(/^OTEL_[A-Z_]+ is n(?!.*\bx\b)/);
  }
  expect(tracingSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: "x" })).toBe(
    "OTEL_EXPORTER_OTLP_ENDPOINT is no address of a collector such as http://127.0.0.1:4318",
  );
});
