/** An HTTP client without credentials, for the tests of adapters that plan HTTP requests. */
import { request as httpRequest } from "node:http";
import type { Sent } from "./opened.ts";
import type { PlannedRequest } from "../port.ts";

/** Sends exactly the method and the headers of the plan. */
export function sendPlanned(planned: PlannedRequest, content: Uint8Array): Promise<Sent> {
  const { promise, resolve, reject } = Promise.withResolvers<Sent>();
  const { method, headers } = planned;
  const options = { method, headers: { ...headers }, agent: false };
  const sent = httpRequest(planned.url, options, (response) => {
    const chunks: Buffer[] = [];
    response.on("data", (chunk: Buffer) => chunks.push(chunk));
    response.on("error", reject);
    response.on("end", () =>
      resolve({ status: response.statusCode ?? 0, content: Buffer.concat(chunks) }),
    );
  });
  sent.on("error", reject);
  sent.end(method === "GET" ? undefined : content);
  return promise;
}

/** Sends the beginning of a planned request and closes the connection, like a client that dies. */
export async function breakOffPlanned(
  { method, url, headers }: PlannedRequest,
  content: Uint8Array,
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sent = httpRequest(url, { method, headers: { ...headers }, agent: false });
  sent.on("error", () => resolve());
  sent.on("close", () => resolve());
  sent.on("socket", (socket) => sent.write(content, () => socket.end()));
  await promise;
}
