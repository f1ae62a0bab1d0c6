/** The reports of the metrics benchmarks. */
export const metricsEach = 10;
/** The number of reports per request. */
export const perRequest = 100;

/** Returns a training's report of ten metrics: float32 values, without rounding. */
export function reportOf(n: number) {
  const metrics = Object.fromEntries(
    Array.from({ length: metricsEach }, (_, i) => [
      `metric_${i}`,
      Math.fround(Math.exp(-n / 20_000) + Math.sin(n * (i + 1)) / 10),
    ]),
  );
  return {
    key: `0-${n + 1}`,
    group: "training",
    stepsCompleted: 10 * n,
    atMs: 1_700_000_000_000 + 250 * n + ((n * 7) % 13),
    metrics,
  };
}
