import { describe, expect, it } from "vitest";
import { curvesOf, devicesOf, measured, profiledRuns, quantityKey } from "./profile-figures.ts";

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
    summary(1, 0, "", "utilization_percent"),
  ];

  it("is shown by run, node and device", () => {
    expect(profiledRuns({ summaries } as never)).toEqual([1, 2]);
    expect(devicesOf(summaries, 2).map(({ title }) => title)).toEqual([
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
