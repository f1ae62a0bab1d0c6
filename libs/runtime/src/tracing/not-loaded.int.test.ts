import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/**
 * Opens the tracer in a process of its own, and prints the modules of OpenTelemetry's SDK that it has loaded. The
 * interface alone, `@opentelemetry/api`, is a part of prom-client.
 */
async function loadedWith(endpoint: string): Promise<readonly string[]> {
  const program = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load(url, context, next) { loaded.push(url); return next(url, context); } });
    const { openTracer } = await import("@trainyard/runtime");
    const stack = new AsyncDisposableStack();
    const registry = { registerMetric() {} };
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: ${JSON.stringify(endpoint)} };
    await openTracer("experiments", variables, { logger: {}, registry, clock: {}, version: "1", stack });
    console.log(JSON.stringify(loaded.filter((url) => /@opentelemetry.(?!api[@/])/.test(url))));
  `;
  const flags = ["--input-type=module", "--eval", program];
  const { stdout } = await promisify(execFile)(process.execPath, flags, {
    cwd: import.meta.dirname,
  });
  return JSON.parse(stdout) as readonly string[];
}

test("without an endpoint no module of the SDK of OpenTelemetry is loaded", async () => {
  expect(await loadedWith("")).toEqual([]);
  expect((await loadedWith("http://127.0.0.1:1")).length).toBeGreaterThan(10);
});
