/** Times the calls of a gRPC server that have one answer. */
import { ServerInterceptingCall, type ServerInterceptor, status } from "@grpc/grpc-js";

/** The first interceptor of a server is the one next to the client, and so sees refusals of the others. */
export function timedCalls(begin: (method: string) => (code: string) => void): ServerInterceptor {
  return ({ path, responseStream }, call) => {
    const end = responseStream ? () => {} : begin(path.slice(1));
    return new ServerInterceptingCall(call, {
      sendStatus: (sent, next) => {
        end((status[sent.code ?? status.UNKNOWN] ?? "UNKNOWN").toLowerCase());
        next(sent);
      },
    });
  };
}
