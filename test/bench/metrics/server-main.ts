/**
 * The metrics service as a separate process for `bench.ts`, with its settings in the environment. It also has an
 * endpoint /parse, which only parses a request, and an endpoint /series, which queries the service over its bus like
 * the gateway; with TRAINYARD_BENCH_BUS=nats only gateways at that server query it. It prints its addresses on one
 * line, the gRPC address last.
 */
import { createServer } from "node:http";
import { createMemoryBus } from "@trainyard/bus/testing";
import { codecOf, type Plain } from "@trainyard/contracts";
import { type QuerySeries, type SeriesSet, SeriesSetSchema } from "@trainyard/contracts/commands";
import { decodeReply, encodeRequest, readEnvironment } from "@trainyard/runtime";
import { createService, parseConfig } from "@trainyard/service-metrics";

const hub = createMemoryBus();
const alone = process.env["TRAINYARD_BENCH_BUS"] === "nats" ? {} : { bus: hub.connect("metrics") };
const service = await createService(parseConfig(readEnvironment()), alone);
await service.start();
const asking = hub.connect("bench");
const headers = { commitId: "", authid: "bench", traceparent: "", correlationid: "" };

async function series(text: string): Promise<string> {
  const query = JSON.parse(text) as Plain<QuerySeries>;
  const body = encodeRequest("metrics", "QuerySeries", query);
  const answer = await asking.request("metrics", "QuerySeries", { headers, body }, 60_000);
  if (answer.kind !== "ok") throw new Error(JSON.stringify(answer));
  const reply = decodeReply("metrics", "QuerySeries", answer.body);
  return JSON.stringify(codecOf<Plain<SeriesSet>>(SeriesSetSchema).toFullJson(reply));
}

async function answerOf(url: string | undefined, body: string): Promise<string> {
  if (url === "/series") return series(body);
  const { reports } = JSON.parse(body) as { readonly reports: readonly unknown[] };
  return JSON.stringify({ accepted: reports.length });
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    answerOf(request.url, Buffer.concat(chunks).toString("utf8")).then(
      (text) => response.setHeader("content-type", "application/json").end(text),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
});
// Connections live longer than the pause between rounds, because sending on a closing connection fails.
server.keepAliveTimeout = 600_000;
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const addresses = [service.address(), `http://127.0.0.1:${port}`, service.grpcAddress()];
  process.stdout.write(`${addresses.join(" ")}\n`);
});
