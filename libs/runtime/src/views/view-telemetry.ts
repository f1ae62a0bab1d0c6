import { Gauge, type Registry } from "prom-client";
import type { View } from "./view.ts";

/** The metrics of a service's current views. */
export function viewGauges(registry: Registry, views: () => readonly View[]): void {
  const gauge = (
    name: string,
    help: string,
    valueOf: (view: View) => Promise<number> | number,
  ): void => {
    const made = new Gauge({
      name,
      help,
      labelNames: ["view"],
      registers: [registry],
      async collect() {
        for (const view of views()) {
          // A metric keeps its last value while the database is unavailable.
          const value = await Promise.resolve(valueOf(view)).catch(() => null);
          if (value !== null) made.set({ view: view.spec.view }, value);
        }
      },
    });
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
