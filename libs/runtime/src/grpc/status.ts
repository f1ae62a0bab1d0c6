import { status } from "@grpc/grpc-js";

/** The metadata key of an error's code, the same code as in an HTTP problem (RFC 9457): trial_not_found. */
export const problemCodeKey = "trainyard-code";

const codes: Readonly<Record<number, status>> = {
  400: status.INVALID_ARGUMENT,
  401: status.UNAUTHENTICATED,
  403: status.PERMISSION_DENIED,
  404: status.NOT_FOUND,
  409: status.FAILED_PRECONDITION,
  410: status.OUT_OF_RANGE,
  412: status.FAILED_PRECONDITION,
  413: status.RESOURCE_EXHAUSTED,
  415: status.INVALID_ARGUMENT,
  422: status.INVALID_ARGUMENT,
  425: status.UNAVAILABLE,
  429: status.RESOURCE_EXHAUSTED,
  503: status.UNAVAILABLE,
};

/** Returns the gRPC status for an HTTP status. */
export const grpcCodeOf = (httpStatus: number): status => codes[httpStatus] ?? status.INTERNAL;
