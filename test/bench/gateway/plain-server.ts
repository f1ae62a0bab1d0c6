/** Servers that only read and send an experiment's two documents: without token, schema and limits. */
import { Client, credentials, Server, ServerCredentials } from "@grpc/grpc-js";
import fastify from "fastify";
import type { Pool } from "pg";

async function documentsOf(pool: Pool, id: string): Promise<object> {
  const [experiment, config] = await Promise.all(
    ["experiment", "config"].map((kind) =>
      pool.query<{ doc: string }>("select doc from gateway.documents where kind = $1 and id = $2", [
        kind,
        id,
      ]),
    ),
  );
  const read = (text: string | undefined) => JSON.parse(text ?? "{}") as object;
  return { ...read(experiment?.rows[0]?.doc), ...read(config?.rows[0]?.doc) };
}

export async function startPlainServer(
  pool: Pool,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = fastify();
  server.get<{ Params: { id: string } }>("/experiments/:id", ({ params: { id } }) =>
    documentsOf(pool, id),
  );
  const url = await server.listen({ host: "127.0.0.1", port: 0 });
  return { url, [Symbol.asyncDispose]: () => server.close() };
}

const path = "/plain.Experiments/Get";
const whole = (bytes: Buffer): Buffer => bytes;

/** Starts a server of bare grpc-js, whose messages are the id and the JSON of the documents. */
export async function startPlainGrpcServer(
  pool: Pool,
): Promise<Disposable & { readonly get: (id: string) => Promise<unknown> }> {
  const server = new Server();
  const coded = {
    ...{ requestSerialize: whole, requestDeserialize: whole },
    ...{ responseSerialize: whole, responseDeserialize: whole },
  };
  const get = { path, requestStream: false, responseStream: false, ...coded };
  server.addService(
    { get },
    {
      get: (call: { request: Buffer }, answer: (error: Error | null, reply?: Buffer) => void) => {
        documentsOf(pool, call.request.toString()).then(
          (found) => answer(null, Buffer.from(JSON.stringify(found))),
          answer,
        );
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure());
  return {
    get: (id) =>
      new Promise((resolve, reject) => {
        client.makeUnaryRequest(path, whole, whole, Buffer.from(id), (error, reply) =>
          error === null ? resolve(JSON.parse(String(reply))) : reject(error),
        );
      }),
    [Symbol.dispose]: () => {
      client.close();
      server.forceShutdown();
    },
  };
}
