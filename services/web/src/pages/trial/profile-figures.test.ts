import { describe, expect, it, test } from "vitest";
import {
  curvesOf,
  devicesOf,
  measured,
  quantityKey,
  lineOfCurve,
  quantityText,
} from "./profile-figures.ts";

const summary = (run: number, node: number, device: string, name: string) => ({
  run,
  node,
  device,
  agent: `agent-${node}`,
  group: device === "" ? "cpu" : "gpu",
  samples: 1,
  value: { name, min: 0, mean: 1, max: 2 },
});

describe("a trial's profile", () => {
  const summaries = [
    summary(2, 0, "", "utilization_percent"),
    summary(2, 0, "7", "power_watts"),
    summary(2, 1, "", "utilization_percent"),
  ];

  it("is shown by node and device", () => {
    expect(devicesOf(summaries).map(({ title }) => title)).toEqual([
      "Node 0, agent-0",
      "Node 0, agent-0, GPU 7",
      "Node 1, agent-1",
    ]);
  });

  it("has a curve of each quantity of the run", () => {
    const point = (run: number, reportedAtMs: number) => ({
      trial: "1.1",
      run,
      group: "cpu",
      reportedAtMs,
      stepsCompleted: 0,
      sample: {
        node: 0,
        device: "",
        samples: 1,
        values: [{ name: "load_average", min: 1, mean: 2, max: 3 }],
      },
    });
    const curves = curvesOf([point(1, 5), point(2, 6), point(1, 7)], 1);
    const key = quantityKey({ node: 0, group: "cpu", device: "", name: "load_average" });
    expect(curves.get(key)?.map(({ x }) => x)).toEqual([5, 7]);
    expect(curves.size).toBe(1);
  });

  it("has values with their units", () => {
    const names = [
      "used_bytes",
      "read_bytes_per_second",
      "utilization_percent",
      "power_watts",
      "temperature_celsius",
      "load_average",
    ];
    expect(names.map((name) => measured(name, 2_048.12345))).toEqual([
      "2 KiB",
      "2 KiB/s",
      "2048.1 %",
      "2048.1 W",
      "2048.1 °C",
      "2048.12",
    ]);
  });
});

test("a quantity is named by words, without its unit", () => {
  expect(quantityText("memory", "used_bytes")).toBe("memory used");
  expect(quantityText("disk", "read_bytes_per_second")).toBe("disk read");
  expect(quantityText("cpu", "load_average")).toBe("cpu load average");
});

test("a curve is a line with its band, in a unit whose numbers are short", () => {
  const GiB = 1_024 ** 3;
  const curve = [{ x: 1_000, min: GiB, mean: 1.5 * GiB, max: 2 * GiB }];
  const { unit, line } = lineOfCurve("memory", "used_bytes", curve);
  expect(unit).toBe("GiB");
  expect(line).toMatchObject({ x: [1_000], low: [1], y: [1.5], high: [2], label: "memory used" });
  expect(line.points).toBeGreaterThan(line.x.length);
  const unitOf = (name: string, max: number): string =>
    lineOfCurve("group", name, [{ x: 1, min: 0, mean: 0, max }]).unit;
  expect(unitOf("read_bytes_per_second", 3_000)).toBe("KiB/s");
  expect(unitOf("used_bytes", 0)).toBe("B");
  expect(unitOf("used_bytes", 2 ** 80)).toBe("TiB");
  expect(unitOf("utilization_percent", 50)).toBe("%");
  expect(unitOf("power_watts", 300)).toBe("W");
  expect(unitOf("load_average", 3)).toBe("");
  expect(lineOfCurve("cpu", "load_average", []).line.x).toEqual([]);
});
