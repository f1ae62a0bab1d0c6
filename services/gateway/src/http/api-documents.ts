/** Serves the documents that `npm run generate` makes of the API. They have no stored data and need no token. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { FastifyInstance } from "fastify";

export function serveApiDocuments(server: FastifyInstance): void {
  for (const name of ["openapi.json", "asyncapi.json"]) {
    let text: Promise<string> | undefined;
    server.get(`/api/v1/${name}`, async (_request, reply) => {
      text ??= readFile(join(import.meta.dirname, "gen", name), "utf8");
      return reply.type("application/json; charset=utf-8").send(await text);
    });
  }
}
