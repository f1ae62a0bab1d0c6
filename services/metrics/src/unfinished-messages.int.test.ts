/** gRPC messages that never end. */
import { connect } from "node:http2";
import { expect, test } from "vitest";
import { metricsLimits } from "./limits.ts";
import { TestMetrics } from "./testing/test-metrics.ts";

const megabytes = (): number => process.memoryUsage().arrayBuffers / 1024 / 1024;

test.each(["WriteReports", "StreamReports"])(
  "unfinished messages of one run to %s take bounded memory",
  async (method) => {
    await using metrics = await TestMetrics.start();
    const service = await metrics.replica();
    await metrics.request("17.1", 1);
    const run = "17.1#1";
    const size = metricsLimits.requestBytesMax - 1_000;
    const begun = Buffer.alloc(size - 10, 1);
    begun.writeUInt8(0, 0);
    begun.writeUInt32BE(size, 1);
    const before = megabytes();
    const sessions = Array.from({ length: 2 }, () =>
      connect(service.grpcAddress(), { settings: { initialWindowSize: 1024 * 1024 } }),
    );
    for (const session of sessions) session.on("error", () => {});
    const sent = sessions.flatMap((session) =>
      Array.from({ length: 100 }, async () => {
        const stream = session.request({
          ":method": "POST",
          ":path": `/trainyard.api.v1.ReportService/${method}`,
          "content-type": "application/grpc",
          te: "trailers",
          authorization: `Bearer ${metrics.token(run)}`,
        });
        stream.on("error", () => {});
        await new Promise((resolve) => stream.write(begun, resolve));
      }),
    );
    await Promise.race([Promise.all(sent), new Promise((resolve) => setTimeout(resolve, 60_000))]);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    const grown = megabytes() - before;
    for (const session of sessions) session.destroy();
    // The budget, and what 200 streams receive of each window before they are refused.
    const mostMiB = metricsLimits.largeBodiesBytesMax / 1024 / 1024 + 16;
    expect(grown).toBeLessThan(mostMiB);
  },
);
