import { type DescMessage, fromJson, toBinary } from "@bufbuild/protobuf";
import { gatewayRoutes, type Route } from "@trainyard/contracts/routes";
import { notOverGrpc } from "../http/grpc.ts";

export type Fields = Readonly<Record<string, unknown>>;

/** The calls over gRPC, each with its first route. */
export const routes: readonly Route[] = [
  ...new Map(
    gatewayRoutes()
      .toReversed()
      .map((route) => [route.call, route] as const),
  ).values(),
]
  .filter(({ call }) => !(call in notOverGrpc))
  .toReversed();

/** Returns the path of a method over gRPC. */
export const methodOf = ({ service, name }: Route): string =>
  `/trainyard.api.v1.${service}/${name}`;

export const bearer = (token: string | null): Record<string, string> =>
  token === null ? {} : { authorization: `Bearer ${token}` };

export const bytesOf = (desc: DescMessage, fields: Fields): Uint8Array =>
  toBinary(desc, fromJson(desc, fields as never));
