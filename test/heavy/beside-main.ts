/**
 * The other caller, as a process of its own: it asks what people and runs ask, at a steady pace, and says how long each
 * answer took.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Destination } from "../metrics/reporters.ts";

export type BesideOrder = {
  readonly url: string;
  readonly token: string;
  readonly trial: string;
  readonly run: Destination;
};

export type BesideSample = {
  readonly call: string;
  readonly atMs: number;
  readonly tookMs: number;
  readonly status: number;
};

const betweenMs = 20;

process.once("message", async ({ url, token, trial, run }: BesideOrder) => {
  const named = encodeURIComponent(run.run);
  const asPerson = { authorization: `Bearer ${token}` };
  const asRun = { authorization: `Bearer ${run.token}`, "content-type": "application/json" };
  let reports = 0;
  const report = (): string => {
    reports += 1;
    const one = {
      key: `0-${reports}`,
      group: "training",
      stepsCompleted: reports,
      atMs: Date.now(),
    };
    return JSON.stringify({ reports: [{ ...one, metrics: { loss: 1 / reports } }] });
  };
  const calls: Readonly<Record<string, () => Promise<Response>>> = {
    list: () => fetch(`${url}/api/v1/experiments?pageSize=20`, { headers: asPerson }),
    trial: () => fetch(`${url}/api/v1/trials/${trial}`, { headers: asPerson }),
    signals: () => fetch(`${url}/api/v1/runs/${named}/signals`, { headers: asRun }),
    report: () =>
      fetch(`${run.http}/api/v1/runs/${named}/reports`, {
        ...{ method: "POST", headers: asRun, body: report() },
      }),
  };
  while (process.connected) {
    for (const [call, make] of Object.entries(calls)) {
      const atMs = performance.timeOrigin + performance.now();
      const status = await make()
        .then(async (response) => (await response.arrayBuffer(), response.status))
        .catch(() => 0);
      const tookMs = performance.timeOrigin + performance.now() - atMs;
      if (process.connected) process.send?.({ call, atMs, tookMs, status } satisfies BesideSample);
      await delay(betweenMs);
    }
  }
});
process.once("disconnect", () => process.exit(0));
