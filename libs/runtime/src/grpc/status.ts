/** The status of a call that failed: the code for an HTTP status, and the details as google.rpc.Status. */
import { create, type DescMessage, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { anyPack } from "@bufbuild/protobuf/wkt";
import { Metadata, type StatusObject, status } from "@grpc/grpc-js";
import {
  BadRequestSchema,
  ErrorInfoSchema,
  RequestInfoSchema,
  RetryInfoSchema,
  StatusSchema,
} from "@trainyard/contracts/errors";
import type { GrpcProblem } from "./service.ts";

/** The metadata key of an error's code, the same code as in an HTTP problem (RFC 9457): trial_not_found. */
export const problemCodeKey = "trainyard-code";

/** The metadata key of a request's id, in requests and answers. */
export const requestIdKey = "x-request-id";

/** The metadata key of a google.rpc.Status, as all gRPC libraries know it. */
const statusDetailsKey = "grpc-status-details-bin";

/** The domain of the reasons in ErrorInfo. */
const errorDomain = "trainyard";

/** The longest message and the most fields of a status: many clients refuse metadata of more than 8 KiB. */
const messageCharactersMax = 1_000;
const fieldsMax = 10;
const fieldCharactersMax = 160;

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

/** Returns the end of a call that failed. */
export function statusOf(problem: GrpcProblem, requestId: string): StatusObject {
  const code = grpcCodeOf(problem.status);
  const metadata = new Metadata();
  metadata.set(problemCodeKey, problem.code);
  metadata.set(requestIdKey, requestId);
  const message = shortened(problem.message, messageCharactersMax);
  const details = detailsOf(problem, requestId);
  const whole = create(StatusSchema, { code, message, details });
  metadata.set(statusDetailsKey, Buffer.from(toBinary(StatusSchema, whole)));
  return { code, details: message, metadata };
}

function detailsOf({ code, problems = [], retryAfterSeconds }: GrpcProblem, requestId: string) {
  const fieldViolations = problems.slice(0, fieldsMax).map(({ path, detail }) => ({
    field: shortened(path, fieldCharactersMax),
    description: shortened(detail, fieldCharactersMax),
  }));
  return [
    packed(ErrorInfoSchema, { reason: code, domain: errorDomain }),
    packed(RequestInfoSchema, { requestId }),
    ...(retryAfterSeconds == null
      ? []
      : [packed(RetryInfoSchema, { retryDelay: durationOf(retryAfterSeconds) })]),
    ...(problems.length === 0 ? [] : [packed(BadRequestSchema, { fieldViolations })]),
  ];
}

const shortened = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most)}…`;

const packed = <Schema extends DescMessage>(schema: Schema, message: MessageInitShape<Schema>) =>
  anyPack(schema, create(schema, message));

function durationOf(seconds: number) {
  const whole = Math.floor(seconds);
  return { seconds: BigInt(whole), nanos: Math.round((seconds - whole) * 1e9) };
}
