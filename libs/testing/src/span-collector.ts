/**
 * A collector of traces: it takes OTLP over HTTP in JSON (opentelemetry-proto, collector/trace/v1), checks each span,
 * and keeps all of them.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { assert } from "@trainyard/kernel";

export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentSpanId: string;
  readonly name: string;
  readonly service: string;
  readonly kind: number;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly startNs: bigint;
  readonly endNs: bigint;
  readonly isError: boolean;
};

type Value = { readonly stringValue?: string; readonly intValue?: string | number };
type Attribute = { readonly key: string; readonly value: Value };
type Sent = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[];
  }[];
};
type SentSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status?: { readonly code?: number };
};

export class SpanCollector implements AsyncDisposable {
  readonly #server: Server;
  readonly spans: CollectedSpan[] = [];
  /** Everything that was sent, as text. */
  text = "";
  /** While true, requests are read and never answered. */
  hangs = false;
  requests = 0;
  /** The faults of what was sent; a test expects none. */
  readonly problems: string[] = [];
  /** The text of the last request with a fault. */
  refused = "";

  private constructor() {
    this.#server = createServer((request, response) => {
      void read(request).then((body) => {
        this.requests += 1;
        if (this.hangs) return;
        try {
          this.#take(request, body);
        } catch (error) {
          this.problems.push(String(error));
          this.refused = body;
        }
        response.writeHead(200, { "content-type": "application/json" }).end("{}");
      });
    });
  }

  static async start(): Promise<SpanCollector> {
    const collector = new SpanCollector();
    await new Promise<void>((resolve) => {
      collector.#server.listen(0, "127.0.0.1", resolve);
    });
    return collector;
  }

  /** The variables of a service that sends its spans here, soon. */
  get variables() {
    const { port } = this.#server.address() as AddressInfo;
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
      OTEL_BSP_SCHEDULE_DELAY: "50",
    };
  }

  trace(traceId: string): readonly CollectedSpan[] {
    return this.spans.filter((span) => span.traceId === traceId);
  }

  /** The spans from the first one of the trace, or the first one that was sent, to this one. */
  above(span: CollectedSpan): readonly CollectedSpan[] {
    const parent = this.trace(span.traceId).find(({ spanId }) => spanId === span.parentSpanId);
    return parent === undefined ? [span] : [...this.above(parent), span];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #take({ url, method, headers }: IncomingMessage, body: string): void {
    assert(method === "POST" && url === "/v1/traces", `spans are sent to /v1/traces, not ${url}`);
    assert(headers["content-type"] === "application/json", "spans are sent as JSON");
    this.text += body;
    const { resourceSpans } = JSON.parse(body) as Sent;
    for (const { resource, scopeSpans } of resourceSpans) {
      const service = String(valuesOf(resource.attributes)["service.name"]);
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) {
        this.spans.push(spanOf(span, service));
      }
    }
  }
}

function spanOf(span: SentSpan, service: string): CollectedSpan {
  const { traceId, spanId, parentSpanId = "", name, kind } = span;
  assert(/^[0-9a-f]{32}$/.test(traceId), `${traceId} is the id of a trace`);
  assert(/^[0-9a-f]{16}$/.test(spanId), `${spanId} is the id of a span`);
  assert(/^([0-9a-f]{16})?$/.test(parentSpanId), `${parentSpanId} is the id of a span`);
  assert(name !== "" && service !== "" && kind >= 1 && kind <= 5, `${name} has a kind`);
  const startNs = BigInt(span.startTimeUnixNano);
  const endNs = BigInt(span.endTimeUnixNano);
  assert(startNs > 0n && endNs >= startNs, `${name} ends after its start`);
  const isError = span.status?.code === 2;
  const attributes = valuesOf(span.attributes ?? []);
  const links = (span.links ?? []).map((link) => ({ traceId: link.traceId, spanId: link.spanId }));
  const ids = { traceId, spanId, parentSpanId };
  return { ...ids, name, service, kind, attributes, links, startNs, endNs, isError };
}

const valuesOf = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

async function read(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}
