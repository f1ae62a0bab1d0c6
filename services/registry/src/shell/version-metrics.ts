import { decodeEvent } from "@trainyard/contracts";
import { type EventLog, isFullPage } from "@trainyard/event-log";
import { streamName } from "@trainyard/kernel";
import { registryLimits } from "../limits.ts";

type Step = { readonly trial: string; readonly run: number; readonly step: number };

/**
 * The validation metrics that a run reported at a step, with the latest value of each. Names beyond the limit are left
 * out, in alphabetical order.
 */
export async function metricsAt(
  log: Pick<EventLog, "read">,
  { trial, run, step }: Step,
): Promise<Readonly<Record<string, number>>> {
  const stream = streamName("measurement", trial);
  const { measurementsPage } = registryLimits;
  let found: Readonly<Record<string, number>> = {};
  for (let after = 0; ; ) {
    const page = await log.read(stream, after, measurementsPage);
    for (const stored of page) {
      const event = decodeEvent(stored);
      if (event.type !== "ValidationReported") continue;
      const { data } = event;
      if (data.run === run && data.step === step) found = { ...found, ...data.scalars };
    }
    after = page.at(-1)?.version ?? after;
    if (!isFullPage(page, measurementsPage)) return withinLimit(found);
  }
}

function withinLimit(metrics: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  let bytes = 0;
  const names = Object.keys(metrics).toSorted();
  const kept = names.filter((name) => {
    bytes += Buffer.byteLength(JSON.stringify([name, metrics[name]]));
    return bytes <= registryLimits.versionMetricsBytesMax;
  });
  return Object.fromEntries(kept.map((name) => [name, metrics[name] ?? Number.NaN]));
}
