/**
 * CreateExperimentWithCode: the request, then pieces of the archive. The memory of the whole archive is reserved before
 * the first piece is read, in the budget of the bodies over REST.
 */
import { createHash } from "node:crypto";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";

import type { RequestOf } from "@trainyard/contracts";
import {
  CreateExperimentRequestSchema,
  type CreateExperimentWithCodeRequest,
  CreateExperimentWithCodeRequestSchema,
  type CreateExperimentWithCodeStart,
} from "@trainyard/contracts/api";
import type { Route } from "@trainyard/contracts/routes";
import { limits } from "@trainyard/kernel";
import type { BodyBudget, HeldBody } from "@trainyard/runtime";
import type { AnyHandler, GrpcContext } from "@trainyard/runtime/grpc";
import { type Caller, countedAs } from "./caller.ts";
import { answerOf, callOf, type GrpcDeps } from "./grpc-calls.ts";
import { Problem } from "./problem.ts";

type Asked = GrpcContext<Caller>;
type UploadDeps = GrpcDeps & { readonly bodies: BodyBudget };

/** Returns the handler of the method, whose messages are bytes. `route` is that of CreateExperiment. */
export function uploadHandler(route: Route, deps: UploadDeps): AnyHandler<Caller> {
  return async (messages, asked) => {
    const cut = new AbortController();
    const signal = AbortSignal.any([asked.signal, cut.signal]);
    const parts = partsOf(messages as AsyncIterable<Uint8Array>, signal);
    const start = await startIn(parts);
    const held = reserve(deps.bodies, start.archiveBytes, asked, cut);
    try {
      const context = await archiveIn(parts, start.archiveBytes);
      return await held.during(() => submit(route, deps, { start, context }, asked));
    } finally {
      held.closed();
    }
  };
}

type Upload = { readonly start: CreateExperimentWithCodeStart; readonly context: Uint8Array };

async function submit(route: Route, deps: UploadDeps, { start, context }: Upload, asked: Asked) {
  const request = start.request ?? create(CreateExperimentRequestSchema);
  const bytes = toBinary(CreateExperimentRequestSchema, request);
  const call = await callOf<"createExperiment">(deps, route, bytes, asked);
  const digest = (): string =>
    createHash("sha256").update(call.key.digest()).update(context).digest("hex");
  const message: RequestOf<"createExperiment"> = { ...call.message, context };
  return answerOf("createExperiment", deps, route, {
    ...call,
    message,
    key: { ...call.key, digest },
  });
}

function reserve(
  bodies: BodyBudget,
  bytes: number,
  { caller }: Asked,
  cut: AbortController,
): HeldBody {
  if (bytes > limits.contextBytesMax) {
    const detail = `the archive has ${bytes} bytes; the maximum is ${limits.contextBytesMax}`;
    throw new Problem(413, "context_too_large", detail);
  }
  const held = bodies.reserve(bytes, { name: countedAs(caller), cut: () => cut.abort() });
  if (held !== null) return held;
  throw new Problem(503, "busy", "the bodies of other requests fill the memory; try again");
}

async function startIn(parts: AsyncGenerator<Part>): Promise<CreateExperimentWithCodeStart> {
  const first = await parts.next();
  if (first.done !== true && first.value.case === "start") return first.value.value;
  throw invalid("the first message of an upload is its start");
}

/** Returns the whole archive. */
async function archiveIn(parts: AsyncGenerator<Part>, bytes: number): Promise<Uint8Array> {
  const archive = new Uint8Array(bytes);
  let length = 0;
  for await (const part of parts) {
    if (part.case !== "piece") throw invalid("a message after the first one is a piece");
    if (length + part.value.length > bytes)
      throw invalid(`the pieces have more than ${bytes} bytes`);
    archive.set(part.value, length);
    length += part.value.length;
  }
  if (length === bytes) return archive;
  throw invalid(`the pieces have ${length} bytes instead of ${bytes}`);
}

type Part = CreateExperimentWithCodeRequest["part"];

/** Decodes messages until they end. Throws when the call is cut off. */
async function* partsOf(
  messages: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): AsyncGenerator<Part> {
  const iterator = messages[Symbol.asyncIterator]();
  const { promise: isCut, reject } = Promise.withResolvers<never>();
  const onCut = (): void => reject(new Problem(503, "busy", "the upload was cut off; try again"));
  isCut.catch(() => {});
  signal.addEventListener("abort", onCut);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), isCut]);
      if (next.done === true) return;
      yield partIn(next.value);
    }
  } finally {
    signal.removeEventListener("abort", onCut);
    void iterator.return?.();
  }
}

function partIn(bytes: Uint8Array): Part {
  try {
    return fromBinary(CreateExperimentWithCodeRequestSchema, bytes).part;
  } catch (error) {
    throw invalid(`the message cannot be decoded: ${String(error)}`);
  }
}

const invalid = (detail: string): Problem => new Problem(400, "invalid_request", detail);
