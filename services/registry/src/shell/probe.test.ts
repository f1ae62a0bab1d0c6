import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { StoreBrake, Stores } from "@trainyard/blob";
import { systemClock } from "@trainyard/kernel/system-clock";
import { SilentServer } from "@trainyard/testing";
import { expect, test } from "vitest";
import { registryLimits } from "../limits.ts";
import { probeStorage } from "./probe.ts";

test("a store that does not answer is reported as a problem of the submission, within its limit", async () => {
  await using server = await SilentServer.start();
  const endpoint = server.url;
  const folder = await mkdtemp(join(tmpdir(), "probe-"));
  const credentialsFile = join(folder, "storage.json");
  const s3 = { access_key_id: "key", secret_access_key: "secret" };
  await writeFile(credentialsFile, JSON.stringify({ s3 }), { mode: 0o600 });
  const patience = { silenceMs: 60_000, attemptsMax: 5 };
  const settings = { clock: systemClock, endpoints: [endpoint], patience, credentialsFile };
  await using stores = new Stores(settings);
  const brake = new StoreBrake({ clock: systemClock, ...registryLimits.storeBrake });
  const storage = { type: "s3", bucket: "models", endpoint_url: endpoint };
  const startedMs = systemClock.monotonicMs();
  const answer = await probeStorage({ stores, brake }, { storage });
  expect(answer).toEqual({ problems: [expect.stringContaining("s3://models")] });
  expect(systemClock.monotonicMs() - startedMs).toBeLessThan(registryLimits.probeMs + 2_000);
  await rm(folder, { recursive: true });
});
