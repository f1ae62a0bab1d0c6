/** The settings of traces: the standard variables of OpenTelemetry. The exporter reads that for compression itself. */
import { z } from "zod";

const names = [
  "OTEL_SDK_DISABLED",
  "OTEL_SERVICE_NAME",
  "OTEL_TRACES_EXPORTER",
  "OTEL_TRACES_SAMPLER",
  "OTEL_TRACES_SAMPLER_ARG",
  "OTEL_EXPORTER_OTLP_ENDPOINT",
  "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
  "OTEL_EXPORTER_OTLP_PROTOCOL",
  "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL",
  "OTEL_EXPORTER_OTLP_HEADERS",
  "OTEL_EXPORTER_OTLP_TRACES_HEADERS",
  "OTEL_EXPORTER_OTLP_TIMEOUT",
  "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT",
  "OTEL_EXPORTER_OTLP_CERTIFICATE",
  "OTEL_EXPORTER_OTLP_TRACES_CERTIFICATE",
  "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE",
  "OTEL_EXPORTER_OTLP_TRACES_CLIENT_CERTIFICATE",
  "OTEL_EXPORTER_OTLP_CLIENT_KEY",
  "OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY",
  "OTEL_BSP_MAX_QUEUE_SIZE",
  "OTEL_BSP_MAX_EXPORT_BATCH_SIZE",
  "OTEL_BSP_SCHEDULE_DELAY",
] as const;

type Name = (typeof names)[number];

export type TracingVariables = { readonly [Variable in Name]?: string | undefined };

/** The variables for a process's zod schema. */
export const tracingVariables = Object.fromEntries(
  names.map((name) => [name, z.string().optional()]),
) as Record<Name, z.ZodOptional<z.ZodString>>;

const samplers = ["always_on", "always_off", "traceidratio"] as const;

export type TracingSettings = {
  readonly url: string;
  readonly protocol: "http/protobuf" | "http/json";
  readonly headers: Readonly<Record<string, string>>;
  readonly serviceName: string | undefined;
  /** The files of the collector's authority and of the client's certificate; empty for none. */
  readonly tls: { readonly ca: string; readonly cert: string; readonly key: string };
  /** The decision on traces that begin here: the share of them that is sent. */
  readonly sampler: { readonly name: (typeof samplers)[number]; readonly ratio: number };
  readonly timeoutMs: number;
  readonly queue: { readonly max: number; readonly batchMax: number; readonly delayMs: number };
};

type OfTraces = Name extends infer One
  ? One extends `OTEL_EXPORTER_OTLP_TRACES_${infer Last}`
    ? Last
    : never
  : never;

/** Returns the variables that are set; absent if none is. */
export function tracingOf(env: TracingVariables): { readonly tracing?: TracingVariables } {
  const set = names.flatMap((name) =>
    env[name] === undefined ? [] : [[name, env[name]] as const],
  );
  return set.length === 0 ? {} : { tracing: Object.fromEntries(set) };
}

/** Returns the settings, or why there are none: null without an endpoint, else the problem as a sentence. */
export function tracingSettings(env: TracingVariables): TracingSettings | string | null {
  const read = (name: Name): string => env[name]?.trim() ?? "";
  const ofTraces = (name: OfTraces): string =>
    read(`OTEL_EXPORTER_OTLP_TRACES_${name}`) || read(`OTEL_EXPORTER_OTLP_${name}`);
  const exporter = read("OTEL_TRACES_EXPORTER");
  if (read("OTEL_SDK_DISABLED").toLowerCase() === "true" || exporter === "none") return null;
  if (ofTraces("ENDPOINT") === "") return null;
  if (exporter !== "" && exporter !== "otlp")
    return "OTEL_TRACES_EXPORTER is neither otlp nor none";
  const url = read("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") || tracesBelow(ofTraces("ENDPOINT"));
  // The address may hold a password, so it is not repeated.
  if (!/^https?:$/.test(protocolOf(url))) {
    return "OTEL_EXPORTER_OTLP_ENDPOINT is no address of a collector such as http://127.0.0.1:4318";
  }
  const protocol = ofTraces("PROTOCOL") || "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    return "OTEL_EXPORTER_OTLP_PROTOCOL is neither http/protobuf nor http/json";
  }
  const named = read("OTEL_TRACES_SAMPLER").replace(/^parentbased_/, "") || "always_on";
  const name = samplers.find((one) => one === named);
  if (name === undefined) return `OTEL_TRACES_SAMPLER is none of ${samplers.join(", ")}`;
  const ratio = Number(read("OTEL_TRACES_SAMPLER_ARG") || 1);
  if (!(ratio >= 0 && ratio <= 1)) return "OTEL_TRACES_SAMPLER_ARG is no number from 0 to 1";
  const max = count(read("OTEL_BSP_MAX_QUEUE_SIZE"), 2_048);
  return {
    ...{ url, protocol, headers: headersIn(ofTraces("HEADERS")), sampler: { name, ratio } },
    serviceName: read("OTEL_SERVICE_NAME") || undefined,
    tls: {
      ca: ofTraces("CERTIFICATE"),
      cert: ofTraces("CLIENT_CERTIFICATE"),
      key: ofTraces("CLIENT_KEY"),
    },
    timeoutMs: count(ofTraces("TIMEOUT"), 10_000),
    queue: {
      max,
      batchMax: Math.min(max, count(read("OTEL_BSP_MAX_EXPORT_BATCH_SIZE"), 512)),
      delayMs: count(read("OTEL_BSP_SCHEDULE_DELAY"), 5_000),
    },
  };
}

const tracesBelow = (endpoint: string): string => `${endpoint.replace(/\/$/, "")}/v1/traces`;

const protocolOf = (url: string): string => (URL.canParse(url) ? new URL(url).protocol : "");

/** A number that is none is replaced by its default, as the standard says. */
function count(text: string, otherwise: number): number {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : otherwise;
}

/** Reads KEY=VALUE pairs, separated by commas, with percent-encoded values. */
function headersIn(text: string): Readonly<Record<string, string>> {
  const pairs = text.split(",").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())] as const];
  });
  return Object.fromEntries(pairs);
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}
