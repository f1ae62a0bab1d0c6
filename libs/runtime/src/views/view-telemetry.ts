import type { Registry } from "prom-client";
import { type Measured, measuredGauge } from "../telemetry/measured-gauge.ts";
import type { View } from "./view.ts";

/** The metrics of a service's current views. */
export function viewGauges(registry: Registry, views: () => readonly View[]): void {
  const gauge = (
    name: string,
    help: string,
    valueOf: (view: View) => Promise<number> | number,
  ): void => {
    const measure = async (): Promise<Measured> =>
      Promise.all(
        views().map(async (view) => [{ view: view.spec.view }, await valueOf(view)] as const),
      );
    measuredGauge(registry, { name, help, labelNames: ["view"] }, measure);
  };
  gauge(
    "trainyard_view_position",
    "Log position that the rows of a view reflect",
    (view) => view.position,
  );
  gauge(
    "trainyard_view_set_aside_streams",
    "Streams of which a view has set aside an event that it could not apply",
    async (view) => (await view.setAside()).length,
  );
}
