/** A server that only reads and sends an experiment's two documents: without token, schema and limits. */
import fastify from "fastify";
import type { Pool } from "pg";

export async function startPlainServer(
  pool: Pool,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = fastify();
  server.get<{ Params: { id: string } }>("/experiments/:id", async ({ params: { id } }) => {
    const [experiment, config] = await Promise.all(
      ["experiment", "config"].map((kind) =>
        pool.query<{ doc: string }>(
          "select doc from gateway.documents where kind = $1 and id = $2",
          [kind, id],
        ),
      ),
    );
    return {
      ...JSON.parse(experiment?.rows[0]?.doc ?? "{}"),
      ...JSON.parse(config?.rows[0]?.doc ?? "{}"),
    };
  });
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, [Symbol.asyncDispose]: () => server.close() };
}
