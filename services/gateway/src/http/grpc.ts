/**
 * Serves the calls of the API over gRPC: from the same descriptors, handlers, tokens, turns and limits as over REST. A
 * message is decoded in the handler, so a malformed one is answered as over REST.
 */
import type { CallName } from "@trainyard/contracts";
import { UploadService } from "@trainyard/contracts/api";
import { gatewayRoutes, gatewayServices, type Route } from "@trainyard/contracts/routes";
import { assert } from "@trainyard/kernel";
import type { Listening, Logger, Registry, Serving, Tracer } from "@trainyard/runtime";
import { encodedGrpcService, startGrpcServer } from "@trainyard/runtime/grpc";
import { type AccessDeps, callerOf } from "./access.ts";
import { asProblem } from "./as-problem.ts";
import { type Caller, countedAs } from "./caller.ts";
import { handlerOfCall } from "./grpc-calls.ts";
import { uploadHandler } from "./grpc-upload.ts";
import { httpLimits } from "./limits.ts";
import type { CallDeps } from "./make-call.ts";
import { MessageReader } from "./message-reader.ts";

export type GrpcFace = AccessDeps &
  CallDeps & {
    readonly logger: Logger;
    readonly registry: Registry;
    readonly tracer: Tracer;
  };

/** The calls that are not served over gRPC, each with the reason. */
export const notOverGrpc: Readonly<Partial<Record<CallName, string>>> = {
  createSession: "sets the cookie of a browser",
  deleteCurrentSession: "removes the cookie of a browser",
};

const createWithCode = UploadService.method.createExperimentWithCode.localName;

/** The first route of each call. */
const routes = new Map<string, Route>(
  gatewayRoutes()
    .toReversed()
    .map((route) => [route.call, route]),
);

export async function startGrpc(
  face: GrpcFace,
  { readiness, draining }: Serving,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const messages = new MessageReader();
  const deps = { ...face, messages };
  const served = gatewayServices.map((service) =>
    encodedGrpcService<Caller>(service, ({ localName }) =>
      localName in notOverGrpc ? null : handlerOfCall(routeOf(localName), deps),
    ),
  );
  const create = routeOf("createExperiment");
  const uploads = encodedGrpcService<Caller>(UploadService, () => uploadHandler(create, deps));
  const server = await startGrpcServer(
    {
      services: [...served, uploads],
      admit: (name, { authorization, peer, forwardedFor }) => {
        const route = name === createWithCode ? create : routeOf(name);
        const address = face.proxies.clientOf(peer, forwardedFor);
        return callerOf(face, route, { authorization, session: undefined }, { address });
      },
      problemOf: (error, requestId) => asProblem(error, face.logger, requestId),
      readiness,
      draining,
      tracer: face.tracer,
      registry: face.registry,
      bodies: face.bodies,
      nameOf: countedAs,
      messageBytesMax: httpLimits.bodyBytesMax,
    },
    address,
  );
  return {
    address: server.address,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await messages[Symbol.asyncDispose]();
    },
  };
}

function routeOf(call: string): Route {
  const route = routes.get(call);
  assert(route !== undefined, `${call} is a call of the API`);
  return route;
}
