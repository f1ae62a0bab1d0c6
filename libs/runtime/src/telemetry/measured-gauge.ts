/**
 * A gauge whose values are read when Prometheus asks. It has only the current values: a series whose value is gone is
 * gone, such as that of a replica that no longer decides. A source that fails or takes long leaves the last values, so
 * that a scrape never waits for a database that is away.
 */
import { Gauge, type Registry } from "prom-client";
import { runtimeLimits } from "../limits.ts";

export type Measured = readonly (readonly [
  labels: Readonly<Record<string, string>>,
  value: number,
])[];

export type GaugeSpec = {
  readonly name: string;
  readonly help: string;
  readonly labelNames?: readonly string[];
};

export function measuredGauge(
  registry: Registry,
  { name, help, labelNames = [] }: GaugeSpec,
  measure: () => Promise<Measured> | Measured,
): void {
  const gauge: Gauge = new Gauge({
    name,
    help,
    labelNames: [...labelNames],
    registers: [registry],
    async collect() {
      const measured = await inTime(measure);
      if (measured === null) return;
      gauge.reset();
      // A gauge without labels would be 0 after a reset.
      if (labelNames.length === 0 && measured.length === 0) gauge.remove();
      for (const [labels, value] of measured) gauge.set(labels, value);
    },
  });
}

async function inTime(measure: () => Promise<Measured> | Measured): Promise<Measured | null> {
  const late = Promise.withResolvers<null>();
  const timer = setTimeout(() => late.resolve(null), runtimeLimits.measureMs);
  try {
    return await Promise.race([measure(), late.promise]);
  } catch {
    return null;
  } finally {
    clearTimeout(timer);
  }
}
