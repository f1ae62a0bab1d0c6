/** The log and the bus of a service that sends spans: appends and commands are spans. */
import type { Bus } from "@trainyard/bus";
import type { AppendRequest, AppendResult, EventLog } from "@trainyard/event-log";
import { shortNameOf } from "@trainyard/contracts";
import { during, type Tracer } from "./tracer.ts";

/** Returns the log; each event that is appended through it names the span of its append. */
export function tracedLog(log: EventLog, tracer: Tracer): EventLog {
  const append = (request: AppendRequest): Promise<AppendResult> => {
    const { writes, meta } = request;
    if (writes.length === 0) return log.append(request);
    const events = writes.flatMap((write) => write.events);
    const attributes = {
      "trainyard.stream": writes[0]?.stream ?? "",
      "trainyard.event": [...new Set(events.map(({ type }) => shortNameOf(type)))].join(", "),
      "trainyard.events": events.length,
    };
    const span = tracer.begin("append", meta.traceparent, { attributes });
    const named = { ...request, meta: { ...meta, traceparent: span.traceparent } };
    return during(
      span,
      () => log.append(named),
      (result) => ({
        "trainyard.result": result.kind,
        ...(result.kind === "committed" ? { "trainyard.position": result.position } : {}),
      }),
    );
  };
  return replaced(log, { append });
}

/** Returns the bus; each command with a traceparent is a span. */
export function tracedBus(bus: Bus, tracer: Tracer): Bus {
  const request: Bus["request"] = (service, command, { headers, body }, deadlineMs) => {
    const attributes = { "rpc.system": "nats", "rpc.service": service, "rpc.method": command };
    const facts = { kind: "client", attributes } as const;
    const span = tracer.under(`${service} ${command}`, headers.traceparent, facts);
    const named = { headers: { ...headers, traceparent: span.traceparent }, body };
    return during(
      span,
      () => bus.request(service, command, named, deadlineMs),
      ({ kind }) => ({ "trainyard.result": kind }),
    );
  };
  return replaced(bus, { request });
}

/** Returns the port with some methods replaced. */
function replaced<Port extends object>(port: Port, methods: Partial<Port>): Port {
  return new Proxy(port, {
    get(target, name) {
      const own: unknown = Reflect.get(methods, name);
      if (own !== undefined) return own;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
}
