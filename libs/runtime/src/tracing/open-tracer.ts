import type { Clock } from "@trainyard/kernel";
import type { Registry } from "prom-client";
import type { Logger } from "../logging.ts";
import { type TracingVariables, tracingSettings } from "./settings.ts";
import { noTracer, type Tracer } from "./tracer.ts";

export type TracerDeps = {
  readonly logger: Logger;
  readonly registry: Registry;
  readonly clock: Clock;
  /** The version of the service. */
  readonly version: string;
  readonly stack: AsyncDisposableStack;
};

/** Opens the tracer of a service. The SDK is loaded only if the settings name a collector. */
export async function openTracer(
  service: string,
  variables: TracingVariables | undefined,
  deps: TracerDeps,
): Promise<Tracer> {
  const settings = tracingSettings(variables ?? {});
  if (settings === null) return noTracer;
  // Wrong settings of traces must not keep a service from its work.
  const without = (reason: string): Tracer => {
    deps.logger.error(`no traces are sent: ${reason}`);
    return noTracer;
  };
  if (typeof settings === "string") return without(settings);
  try {
    const { SdkTracer } = await import("./sdk-tracer.ts");
    return deps.stack.use(new SdkTracer(service, settings, deps));
  } catch (error) {
    return without(error instanceof Error ? error.message : String(error));
  }
}
