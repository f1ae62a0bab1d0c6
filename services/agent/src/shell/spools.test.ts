import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRegistry } from "@trainyard/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { hostMetrics } from "../host-metrics.ts";
import { spoolsOf } from "./spools.ts";

let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "ty-spools-"));
  for (const folder of ["output", "run/spool"]) mkdirSync(join(path, folder), { recursive: true });
});
afterEach(() => rmSync(path, { recursive: true }));

const run = (isDelivered: boolean) =>
  ({ folder: { path, runDir: join(path, "run") }, isDelivered }) as never;

test("the lines and reports of a run take the space that its files have on the disk, until all are delivered", () => {
  writeFileSync(join(path, "output", "000000000001.ndjson"), "x".repeat(10_000));
  const reports = join(path, "run/spool/reports.ndjson");
  writeFileSync(reports, "x".repeat(5_000));
  // The program of a run may give its file any size.
  truncateSync(reports, 2 ** 40);
  const { lines, reports: bytes } = spoolsOf([run(false)]);
  expect(lines).toBeGreaterThanOrEqual(10_000);
  expect(bytes).toBeGreaterThanOrEqual(5_000);
  expect(bytes).toBeLessThan(1_000_000);
  expect(spoolsOf([run(true)])).toEqual({ lines: 0, reports: 0 });
});

test("a run whose folder is gone takes no space", () => {
  rmSync(join(path, "output"), { recursive: true });
  expect(spoolsOf([run(false)])).toEqual({ lines: 0, reports: 0 });
});

test("the metrics of a host have its disk, and what waits there for the platform", async () => {
  const registry = createRegistry("agent");
  const undelivered = () => ({ checkpoints: 2, bytes: 700 });
  hostMetrics(registry, { folder: path, undelivered, spools: () => ({ lines: 5, reports: 6 }) });
  const text = await registry.metrics();
  const valueOf = (name: string): number =>
    Number(new RegExp(`^trainyard_agent_${name}\\{.*\\} (\\S+)$`, "m").exec(text)?.[1]);
  expect(valueOf("disk_free_bytes")).toBeGreaterThan(0);
  expect(valueOf("disk_size_bytes")).toBeGreaterThanOrEqual(valueOf("disk_free_bytes"));
  expect([valueOf("checkpoints_waiting"), valueOf("checkpoints_waiting_bytes")]).toEqual([2, 700]);
  expect(text).toContain('trainyard_agent_spool_bytes{of="lines",service="agent"} 5\n');
});
