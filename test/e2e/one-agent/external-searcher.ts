/** The program of docs/integrate/searcher.md, run as it is printed there. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { root } from "../../../scripts/lib/root.ts";
import { pythonWithOptuna } from "../../bench/search/python.ts";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const guide = readFileSync(join(root, "docs/integrate/searcher.md"), "utf8");
const sdk = join(root, "libs", "sdk-python", "src");
/** An ask-and-tell library for machines without Optuna. */
const standIn = join(import.meta.dirname, "stand-ins");

/** Writes the files of the page and code into a folder. The trials last long enough for a kill in between. */
function project(): void {
  for (const [, name = "", content = ""] of guide.matchAll(/^```\w+ (\S+)\n(.*?)^```$/gms))
    world.write(`searcher/${name}`, content);
  const [, experiment = ""] = /^```yaml experiment.yaml\n(.*?)^```$/ms.exec(guide) ?? [];
  const steps = `environment: { environment_variables: ["STEPS=4", "STEP_SECONDS=0.1"] }\n`;
  world.write("searcher/experiment.yaml", experiment + steps);
  const code = join(world.folder, world.code("curves"), "train.py");
  world.write("searcher/code/train.py", readFileSync(code, "utf8"));
}

test("the searcher of the guide decides each trial once, also if it is killed", async () => {
  project();
  const optuna = await pythonWithOptuna(() => {}, false);
  const { api, token } = world.access;
  const start = () =>
    spawn(optuna ?? "python3", ["decide.py", "the-key"], {
      cwd: join(world.folder, "searcher"),
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        PYTHONPATH: optuna === undefined ? `${sdk}:${standIn}` : sdk,
        PYTHONDONTWRITEBYTECODE: "1",
        ...{ TRAINYARD_URL: api, TRAINYARD_TOKEN: token },
      },
    });
  const experiment = async () => {
    const { items } = await world.client.call("listExperiments", { pageSize: 500 });
    return items.find(({ name }) => name === "decided-by-optuna");
  };
  const killed = start();
  await eventually(
    "the searcher has decided by a result",
    async () => ((await experiment())?.trials ?? 0) > 2,
  );
  killed.kill("SIGKILL");
  await once(killed, "close");
  const client = start();
  const [said] = await Promise.all([text(client.stdout), once(client, "close")]);
  expect(said).toContain("reason='exhausted'");
  expect(client.exitCode).toBe(0);
  const id = (await experiment())?.id ?? "";
  expect(await world.end(id)).toBe("COMPLETED");
  const { items } = await world.client.call("listTrials", { experiment: id });
  expect(items.map(({ state, origin }) => [state, origin])).toEqual(
    Array.from({ length: 6 }, () => ["COMPLETED", "client"]),
  );
  expect(new Set(items.map(({ hyperparameters }) => hyperparameters?.["lr"])).size).toBe(6);
});
