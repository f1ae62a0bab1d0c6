/**
 * Parses request bodies: JSON, or none. A large body is parsed in a worker thread, because it would block the event
 * loop for seconds.
 */

import { ScalarType } from "@bufbuild/protobuf";
import type { Route } from "@trainyard/contracts/routes";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Access } from "./access.ts";
import { digestOfRequest, parseBody } from "./body-text.ts";
import { BodyThread } from "./body-thread.ts";
import { httpLimits } from "./limits.ts";
import { Problem } from "./problem.ts";

/** A parsed request body. */
export class ParsedBody {
  /** The JSON value; null without a body. */
  readonly json: unknown;
  readonly bytes: Readonly<Record<string, Uint8Array>>;
  readonly #digest: string | null;

  constructor(json: unknown, bytes: Readonly<Record<string, Uint8Array>>, digest: string | null) {
    this.json = json;
    this.bytes = bytes;
    this.#digest = digest;
  }

  /**
   * Returns a digest of the whole request, by which a repeat under an idempotency key is compared with the first one.
   */
  digest(request: FastifyRequest): string {
    return this.#digest ?? digestOfRequest(prefixOf(request), this.json);
  }
}

/** The options of a route that the parser needs. */
export type BodyConfig = { readonly byteFields: readonly string[] };

export function bodyConfigOf(route: Route): BodyConfig {
  const fields = route.request.fields.filter((field) => field.scalar === ScalarType.BYTES);
  return { byteFields: fields.map(({ jsonName }) => jsonName) };
}

const prefixOf = ({ method, url }: FastifyRequest): string => `${method}\n${url}\n`;

/** Registers the parser for JSON. An empty body is allowed for commands without fields. */
export function acceptJson(server: FastifyInstance, access: Access): void {
  const thread = new BodyThread();
  server.addHook("onClose", () => thread[Symbol.asyncDispose]());
  server.removeContentTypeParser("application/json");
  server.addContentTypeParser(
    "application/json",
    { parseAs: "buffer" },
    async (request: FastifyRequest, body: Buffer) => {
      if (body.length === 0) return new ParsedBody(null, {}, null);
      if (body.length <= httpLimits.largeBodyBytes) {
        const parsed = parseBody(body);
        if (parsed.kind === "refused") throw new Problem(400, "invalid_request", parsed.detail);
        return new ParsedBody(parsed.json, {}, null);
      }
      const { byteFields } = request.routeOptions.config as unknown as BodyConfig;
      const text = { body, prefix: prefixOf(request), byteFields };
      const read = await access.of(request).body.parsing(() => thread.read(text));
      if (read.kind === "refused") throw new Problem(400, "invalid_request", read.detail);
      return new ParsedBody(read.json, read.bytes, read.digest);
    },
  );
}
