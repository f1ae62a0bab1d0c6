/** Times the calls of a gRPC server that have one answer. */
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";
import type { TimedCall } from "../telemetry/request-metrics.ts";

/** The first interceptor of a server is the one next to the client, and so sees refusals of the others. */
export function timedCalls(observe: (call: TimedCall, ms: number) => void): ServerInterceptor {
  return (method, call) => {
    const startMs = performance.now();
    return new ServerInterceptingCall(call, {
      sendStatus: (sent, next) => {
        const code = (status[sent.code ?? status.UNKNOWN] ?? "UNKNOWN").toLowerCase();
        if (!method.responseStream) {
          observe({ method: method.path.slice(1), code }, performance.now() - startMs);
        }
        next(sent);
      },
    });
  };
}
