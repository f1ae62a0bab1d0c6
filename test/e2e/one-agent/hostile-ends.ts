/**
 * Files written by one run, or a second agent with the same name, do not affect others: tested with real PostgreSQL,
 * NATS and processes.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { programFile } from "@trainyard/kernel/program-file";
import { checkout } from "@trainyard/local-cluster";
import { freePort } from "@trainyard/testing";
import { expect, test } from "vitest";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const config = (entrypoint: string | readonly string[]): string => `
name: ends
entrypoint: ${JSON.stringify(entrypoint)}
searcher: { name: single, metric: loss }
resources: { slots_per_trial: 1 }
max_restarts: 0
`;

test.each([
  ["300 KB", 300_000],
  ["1.2 MB", 1_200_000],
])(
  "an end.json of %s ends its own run, and other runs start and end beside it",
  async (_, size) => {
    const bystander = await world.submit(config("sleep 600"), world.code("ranks"));
    await world.untilTrials(bystander, (trials) => trials[0]?.runs[0]?.state === "RUNNING");
    const text = `$(head -c ${size} /dev/zero | tr '\\0' x)`;
    const record = `printf '{"reason":"END_REASON_ERROR","message":"%s"}' "${text}"`;
    const entrypoint = `${record} > "$TRAINYARD_RUN_DIR/end.json"; exit 3`;
    const offender = await world.submit(config(entrypoint), world.code("ranks"));
    expect(await world.end(offender)).toBe("ERROR");
    const later = await world.submit(config("true"), world.code("ranks"));
    expect(await world.end(later)).toBe("COMPLETED");
    const trial = await world.client.call("getTrial", { trial: `${bystander}.1` });
    expect(trial.runs.map(({ state }) => state)).toEqual(["RUNNING"]);
    await world.client.call("killExperiment", { experiment: bystander });
  },
);

test("a run that kills its supervisor at each start is started five times, and the trial ends with the reason", async () => {
  const id = await world.submit(config(["sh", "-c", "kill -9 $PPID"]), world.code("ranks"));
  expect(await world.end(id)).toBe("ERROR");
  const { reason, restarts, runs } = await world.client.call("getTrial", { trial: `${id}.1` });
  expect(reason).toMatch(/^5 attempts in a row made no new checkpoint .*\(agent-1\); run 5: /);
  expect(restarts).toBe(0);
  expect(runs.map(({ fault, triesInRow }) => [fault, triesInRow])).toEqual(
    [1, 2, 3, 4, 5].map((row) => ["host", row]),
  );
});

test("a second agent of the same name in another folder is not ready, gives the reason, and starts nothing", async () => {
  const port = await freePort();
  const child = spawn(
    process.execPath,
    [programFile(join(checkout, "services/agent/src/main.ts"))],
    {
      stdio: "ignore",
      env: {
        ...process.env,
        TRAINYARD_ENV_FILE: join(world.home, "run/environment/agent-1.env"),
        TRAINYARD_AGENT_DIR: join(world.folder, "second"),
        TRAINYARD_HTTP_PORT: String(port),
      },
    },
  );
  try {
    await eventually("the second says that its name is taken", async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => null);
      return answer?.status === 503 && (await answer.text()).includes("name_taken");
    });
    const id = await world.submit(config("true"), world.code("ranks"));
    expect(await world.end(id)).toBe("COMPLETED");
    const { items } = await world.client.call("listAgents", {});
    expect(items[0]?.nameRefused).toContain("another agent");
    expect(readdirSync(join(world.folder, "second/runs"))).toEqual([]);
  } finally {
    child.kill("SIGKILL");
  }
});
