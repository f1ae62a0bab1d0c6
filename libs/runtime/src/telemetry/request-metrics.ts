/** Times the requests of a server by their route: the part until the answer begins, since a stream may last for days. */
import { Histogram, type Registry } from "prom-client";
import { callBuckets } from "./work-metrics.ts";

/** The pattern of the route, not its path: an id in a label would make a series for each object. */
export type TimedRequest = { readonly method: string; readonly route: string };

export function httpTimes(registry: Registry): (request: TimedRequest, ms: number) => void {
  const seconds = new Histogram({
    name: "trainyard_http_request_seconds",
    help: "From a request to the beginning of its answer, streams left out",
    labelNames: ["method", "route"],
    buckets: callBuckets,
    registers: [registry],
  });
  return (request, ms) => seconds.observe(request, ms / 1_000);
}

export type TimedCall = { readonly method: string; readonly code: string };

export function grpcTimes(registry: Registry): (call: TimedCall, ms: number) => void {
  const seconds = new Histogram({
    name: "trainyard_grpc_request_seconds",
    help: "From a gRPC call to its status, streams left out",
    labelNames: ["method", "code"],
    buckets: callBuckets,
    registers: [registry],
  });
  return (call, ms) => seconds.observe(call, ms / 1_000);
}
