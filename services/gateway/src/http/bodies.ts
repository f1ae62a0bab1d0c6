/**
 * Bodies of requests: JSON, or none. A large one is read in a thread: in this one it would hold up everything else for
 * seconds.
 */
import type { Route } from "@trainyard/contracts";
import { ScalarType } from "@bufbuild/protobuf";
import type { FastifyInstance, FastifyRequest } from "fastify";
import { gatewayLimits } from "../limits.ts";
import { digestOfRequest, parseBody } from "./body-text.ts";
import { BodyThread } from "./body-thread.ts";
import { Problem } from "./problem.ts";

/** The parser's form of the request's body. */
export class ParsedBody {
  /** Null for none. */
  readonly json: unknown;
  readonly bytes: Readonly<Record<string, Uint8Array>>;
  readonly #digest: string | null;

  constructor(json: unknown, bytes: Readonly<Record<string, Uint8Array>>, digest: string | null) {
    this.json = json;
    this.bytes = bytes;
    this.#digest = digest;
  }

  /** Returns a digest of the whole request: another request under the same idempotency key has another. */
  digest(request: FastifyRequest): string {
    return this.#digest ?? digestOfRequest(prefixOf(request), this.json);
  }
}

/** The options of a route for the parser. */
export type BodyConfig = { readonly byteFields: readonly string[] };

export function bodyConfigOf(route: Route): BodyConfig {
  const fields = route.request.fields.filter((field) => field.scalar === ScalarType.BYTES);
  return { byteFields: fields.map(({ jsonName }) => jsonName) };
}

const prefixOf = ({ method, url }: FastifyRequest): string => `${method}\n${url}\n`;

/** A command without fields may come without a body, whatever its content type says. */
export function acceptJson(server: FastifyInstance): void {
  const thread = new BodyThread();
  server.addHook("onClose", () => thread[Symbol.asyncDispose]());
  server.removeContentTypeParser("application/json");
  server.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return new ParsedBody(null, {}, null);
      if (body.length <= gatewayLimits.largeBodyBytes) {
        const parsed = parseBody(body);
        if (parsed.kind === "refused") throw new Problem(400, "invalid_request", parsed.detail);
        return new ParsedBody(parsed.json, {}, null);
      }
      const { byteFields } = request.routeOptions.config as unknown as BodyConfig;
      const read = await thread.read({ body, prefix: prefixOf(request), byteFields });
      if (read.kind === "refused") throw new Problem(400, "invalid_request", read.detail);
      return new ParsedBody(read.json, read.bytes, read.digest);
    },
  );
}
