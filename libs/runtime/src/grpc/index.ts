export {
  type AnyHandler,
  encodedGrpcService,
  type GrpcContext,
  type GrpcProblem,
  type GrpcService,
  grpcService,
  requestBytes,
} from "./service.ts";
export { type GrpcServerDeps, startGrpcServer } from "./server.ts";
export { GrpcClient } from "./client.ts";
export { pipelined } from "./pipelined.ts";
export { grpcCodeOf, problemCodeKey, requestIdKey } from "./status.ts";
