import type { Logger } from "../logging.ts";
import type { Registry } from "../service/telemetry.ts";
import { type TracingVariables, tracingSettings } from "./settings.ts";
import { noTracer, type Tracer } from "./tracer.ts";

/** Opens the tracer of a service. The SDK is loaded only if the settings name a collector. */
export async function openTracer(
  service: string,
  variables: TracingVariables | undefined,
  deps: {
    readonly logger: Logger;
    readonly registry: Registry;
    readonly stack: AsyncDisposableStack;
  },
): Promise<Tracer> {
  const settings = tracingSettings(variables ?? {});
  if (settings === null) return noTracer;
  if (typeof settings === "string") {
    // Wrong settings of traces must not keep a service from its work.
    deps.logger.error(`no traces are sent: ${settings}`);
    return noTracer;
  }
  const { SdkTracer } = await import("./sdk-tracer.ts");
  return deps.stack.use(new SdkTracer(service, settings, deps));
}
