import { expect, test } from "vitest";
import { createRegistry } from "../service/telemetry.ts";
import { type Measured, measuredGauge } from "./measured-gauge.ts";

async function linesOf(measure: () => Promise<Measured> | Measured, labelNames: string[] = []) {
  const registry = createRegistry("example");
  measuredGauge(registry, { name: "trainyard_example", help: "h", labelNames }, measure);
  return async (): Promise<readonly string[]> =>
    (await registry.metrics()).split("\n").filter((line) => line.startsWith("trainyard_example{"));
}

test("a gauge shows the values of the moment, and none for a value that is gone", async () => {
  let values: Measured = [[{ pool: "a" }, 1]];
  const lines = await linesOf(() => values, ["pool"]);
  expect(await lines()).toEqual(['trainyard_example{pool="a",service="example"} 1']);
  values = [[{ pool: "b" }, 2]];
  expect(await lines()).toEqual(['trainyard_example{pool="b",service="example"} 2']);
});

test("a gauge without labels and without a value has no series", async () => {
  let values: Measured = [[{}, 0]];
  const lines = await linesOf(() => values);
  expect(await lines()).toEqual(['trainyard_example{service="example"} 0']);
  values = [];
  expect(await lines()).toEqual([]);
});

test("a source that hangs or fails leaves the last values, and delays a scrape by a second at most", async () => {
  let source: () => Promise<Measured> = async () => [[{}, 1]];
  const lines = await linesOf(() => source());
  await lines();
  source = () => new Promise(() => {});
  const startMs = performance.now();
  expect(await lines()).toEqual(['trainyard_example{service="example"} 1']);
  expect(performance.now() - startMs).toBeLessThan(5_000);
  source = async () => {
    throw new Error("away");
  };
  expect(await lines()).toEqual(['trainyard_example{service="example"} 1']);
});
