/** Debian's Prometheus, which scrapes the processes of a cluster, and promtool. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkout } from "@trainyard/local-cluster";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { freePort } from "@trainyard/testing";
import { absent, missingPrograms, notRun, type Skip } from "@trainyard/testing/needs";
import { eventually } from "./eventually.ts";
import type { World } from "./world.ts";

export const alertsFolder = join(checkout, "deploy", "prometheus");

export const hasPrometheus = (): boolean => missingPrograms("prometheus", "promtool").length === 0;

/** Without Prometheus here the test is skipped, or fails with TRAINYARD_REQUIRE=prometheus. */
export function needPrometheus(skip: Skip): void {
  if (!hasPrometheus()) notRun(skip, absent("prometheus", "Prometheus, from the distribution"));
}

export type Sample = {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: readonly [atSeconds: number, value: string];
};

export type Prometheus = AsyncDisposable & {
  /** The answer to an expression at this moment. Throws what Prometheus says of a wrong one. */
  query(expression: string): Promise<readonly Sample[]>;
  /** The labels of the alerts that fire. */
  firing(): Promise<readonly Readonly<Record<string, string>>[]>;
};

/**
 * Starts it with the alerts of deploy/prometheus and a scrape each second. They fire here at once, count what happened
 * in the last seconds, and a wait of some seconds is a long one.
 */
export async function startPrometheus(world: World): Promise<Prometheus> {
  const folder = join(world.folder, "prometheus");
  mkdirSync(folder, { recursive: true });
  const alerts = readFileSync(join(alertsFolder, "alerts.yaml"), "utf8");
  writeFileSync(join(folder, "alerts.yaml"), hurried(alerts));
  const scraped = { job_name: "trainyard", honor_labels: true, static_configs: targetsOf(world) };
  const second = { scrape_interval: "1s", scrape_timeout: "1s", evaluation_interval: "1s" };
  const config = { global: second, rule_files: ["alerts.yaml"], scrape_configs: [scraped] };
  writeFileSync(join(folder, "prometheus.yaml"), JSON.stringify(config));
  const port = await freePort();
  const flags = {
    "config.file": join(folder, "prometheus.yaml"),
    "storage.tsdb.path": join(folder, "data"),
    "web.listen-address": `127.0.0.1:${port}`,
    "log.level": "warn",
  };
  const args = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`);
  const child = spawn("prometheus", args, { stdio: ["ignore", "ignore", "inherit"] });
  const ask = async (path: string): Promise<unknown> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`);
    return (await response.json()) as unknown;
  };
  await eventually("Prometheus is ready", () =>
    fetch(`http://127.0.0.1:${port}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  return {
    async query(expression) {
      type Answer = {
        readonly error?: string;
        readonly data: { readonly result: readonly Sample[] };
      };
      const answer = (await ask(`/api/v1/query?query=${encodeURIComponent(expression)}`)) as Answer;
      if (answer.error !== undefined) throw new Error(`${expression}: ${answer.error}`);
      return answer.data.result;
    },
    async firing() {
      type Alert = { readonly state: string; readonly labels: Readonly<Record<string, string>> };
      const { data } = (await ask("/api/v1/alerts")) as {
        readonly data: { readonly alerts: readonly Alert[] };
      };
      return data.alerts.filter(({ state }) => state === "firing").map(({ labels }) => labels);
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGKILL");
      if (child.exitCode === null) await once(child, "exit");
    },
  };
}

const hurried = (alerts: string): string =>
  alerts
    .replace(/for: \d+m/g, "for: 0s")
    .replace(/\[\d+m\]/g, "[10s]")
    .replace(/> (?:900|86400)\b/g, "> 3");

/** The processes that the cluster has given a port, by the files of their environments. */
function targetsOf({ home }: World) {
  const folder = join(home, "run", "environment");
  return readdirSync(folder).flatMap((file) => {
    const { TRAINYARD_HTTP_PORT: port, TRAINYARD_AGENT_NAME: agent } = parseEnvFile(
      readFileSync(join(folder, file), "utf8"),
    );
    const service = agent === undefined ? file.replace(/\.env$/, "") : "agent";
    return port === undefined ? [] : [{ targets: [`127.0.0.1:${port}`], labels: { service } }];
  });
}
