/** The tracer that sends spans to a collector by OTLP over HTTP. Only this folder knows OpenTelemetry. */
import { readFileSync } from "node:fs";
import { Agent as HttpAgent } from "node:http";
import { Agent as HttpsAgent } from "node:https";
import { hostname } from "node:os";
import {
  type Link,
  ROOT_CONTEXT,
  type Span as SdkSpan,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer as ApiTracer,
} from "@opentelemetry/api";
import { OTLPTraceExporter as JsonExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { OTLPTraceExporter as ProtobufExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import { atMost, type Clock, isTraceparent } from "@trainyard/kernel";
import { runtimeLimits } from "../limits.ts";
import type { TracerDeps } from "./open-tracer.ts";
import type { TracingSettings } from "./settings.ts";
import { isSampledFlag, spanContextOf, traceparentOf } from "./span-context.ts";
import { spanCounts, spanQueue } from "./span-queue.ts";
import { isSampled } from "./traceparent.ts";
import {
  errorType,
  type Outcome,
  type Span,
  type SpanFacts,
  type Tracer,
  untraced,
} from "./tracer.ts";

const kinds = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;

export class SdkTracer implements Tracer, AsyncDisposable {
  readonly isOn = true;
  readonly #clock: Clock;
  readonly #provider: TracerProvider;
  readonly #tracer: ApiTracer;
  readonly #agents = new Set<HttpAgent | HttpsAgent>();

  constructor(service: string, settings: TracingSettings, deps: Omit<TracerDeps, "stack">) {
    this.#clock = deps.clock;
    const exporter = this.#exporter(settings);
    this.#provider = new TracerProvider({
      resource: resourceOf(settings.serviceName ?? service, deps.version),
      sampler: new ParentBasedSampler({ root: samplerOf(settings.sampler) }),
      spanProcessors: [spanQueue(exporter, settings, spanCounts(deps))],
    });
    this.#tracer = this.#provider.getTracer("trainyard", deps.version);
  }

  begin(name: string, traceparent: string, facts: SpanFacts = {}): Span {
    if (isTraceparent(traceparent)) return this.under(name, traceparent, facts);
    return spanOf(this.#tracer.startSpan(name, optionsOf(facts), ROOT_CONTEXT));
  }

  under(name: string, traceparent: string, facts: SpanFacts = {}): Span {
    const parent = spanContextOf(traceparent);
    if (parent === undefined) return untraced("");
    if (!isSampled(traceparent)) return untraced(traceparent);
    const context = trace.setSpanContext(ROOT_CONTEXT, parent);
    return spanOf(this.#tracer.startSpan(name, optionsOf(facts), context));
  }

  /** Sends the last spans, for a bounded time. */
  async [Symbol.asyncDispose](): Promise<void> {
    const last = this.#provider.shutdown().catch(() => {});
    await atMost(this.#clock, runtimeLimits.tracesLastMs, last);
    // A request to a collector that hangs must not keep the process.
    for (const agent of this.#agents) agent.destroy();
  }

  #exporter({ url, protocol, headers, timeoutMs, tls }: TracingSettings) {
    const secured = readTls(tls);
    const keepAlive = true;
    const options = {
      ...{ url, headers: { ...headers }, timeoutMillis: timeoutMs },
      httpAgentOptions: (scheme: string) => {
        const agent =
          scheme === "https:"
            ? new HttpsAgent({ keepAlive, ...secured })
            : new HttpAgent({ keepAlive });
        this.#agents.add(agent);
        return agent;
      },
    };
    return protocol === "http/json" ? new JsonExporter(options) : new ProtobufExporter(options);
  }
}

/** Reads the files of certificates. Throws if one cannot be read. */
function readTls(tls: TracingSettings["tls"]): Readonly<Record<string, Buffer>> {
  const named = Object.entries(tls).filter(([, path]) => path !== "");
  return Object.fromEntries(named.map(([name, path]) => [name, readFileSync(path)]));
}

function samplerOf({ name, ratio }: TracingSettings["sampler"]): Sampler {
  if (name === "always_on") return new AlwaysOnSampler();
  return name === "always_off" ? new AlwaysOffSampler() : new TraceIdRatioBasedSampler(ratio);
}

function resourceOf(service: string, version: string) {
  const own = resourceFromAttributes({
    "service.name": service,
    "service.namespace": "trainyard",
    "service.version": version,
    "service.instance.id": `${hostname()}:${process.pid}`,
  });
  // OTEL_RESOURCE_ATTRIBUTES may say more, and other.
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [envDetector] }));
}

function optionsOf({ kind, attributes, links = [], startMs }: SpanFacts) {
  return {
    ...(kind === undefined ? {} : { kind: kinds[kind] }),
    ...(attributes === undefined ? {} : { attributes: { ...attributes } }),
    ...(startMs === undefined ? {} : { startTime: startMs }),
    links: links.flatMap((traceparent): Link[] => {
      const context = spanContextOf(traceparent);
      return context !== undefined && isSampledFlag(context) ? [{ context }] : [];
    }),
  };
}

function spanOf(span: SdkSpan): Span {
  return {
    traceparent: traceparentOf(span.spanContext()),
    end({ error, attributes = {} }: Outcome = {}) {
      span.setAttributes({ ...attributes });
      if (error !== undefined) {
        span.setAttribute("error.type", errorType(error));
        span.setStatus({ code: SpanStatusCode.ERROR });
      }
      span.end();
    },
  };
}
