/**
 * Times the requests of a server by their route: the part until the answer begins. Streams are left out, since one may
 * last for days.
 */
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

/** Begins to time a call; returns the function to call with its code at the end. */
export function grpcTimes(registry: Registry): (method: string) => (code: string) => void {
  const seconds = new Histogram({
    name: "trainyard_grpc_request_seconds",
    help: "From a gRPC call to its status, streams left out",
    labelNames: ["method", "code"],
    buckets: callBuckets,
    registers: [registry],
  });
  return (method) => {
    const end = seconds.startTimer({ method });
    return (code) => end({ code });
  };
}
