/**
 * The other caller, as a process of its own: it asks what people and runs ask, at a steady pace, and says how long each
 * answer took.
 */
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

const betweenMs = 80;
const timeoutMs = 30_000;

process.once("message", ({ url, token, trial, run }: BesideOrder) => {
  const named = encodeURIComponent(run.run);
  const asPerson = { authorization: `Bearer ${token}` };
  const get = (path: string, headers: Record<string, string>): Promise<Response> =>
    fetch(`${url}/api/v1/${path}`, { headers, signal: AbortSignal.timeout(timeoutMs) });
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
    list: () => get("experiments?pageSize=20", asPerson),
    trial: () => get(`trials/${trial}`, asPerson),
    experiment: () => get(`experiments/${trial.split(".", 1)}`, asPerson),
    signals: () => get(`runs/${named}/signals`, asRun),
    report: () =>
      fetch(`${run.http}/api/v1/runs/${named}/reports`, {
        method: "POST",
        headers: asRun,
        body: report(),
        signal: AbortSignal.timeout(timeoutMs),
      }),
  };
  const measure = async (call: string, make: () => Promise<Response>): Promise<void> => {
    const atMs = performance.timeOrigin + performance.now();
    const status = await make()
      .then(async (response) => (await response.arrayBuffer(), response.status))
      .catch(() => 0);
    const tookMs = performance.timeOrigin + performance.now() - atMs;
    if (process.connected) process.send?.({ call, atMs, tookMs, status } satisfies BesideSample);
  };
  // A call does not wait for the answer to the one before, so that a slow time has as many calls as any other.
  for (const [call, make] of Object.entries(calls))
    setInterval(() => void measure(call, make), betweenMs);
});
process.once("disconnect", () => process.exit(0));
