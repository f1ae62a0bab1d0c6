// Tests an experiment that a Python process submits: it equals the one that the command line would create.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { checkout } from "@trainyard/local-cluster";
import { expect, test } from "vitest";
import { Link } from "../../cluster/link.ts";
import { eventually } from "../../world/eventually.ts";
import { world } from "./cluster.ts";

const slowMs = 300_000;

async function python(script: string, api = world.access.api): Promise<unknown> {
  const { token } = world.access;
  const { stdout } = await promisify(execFile)("python3", ["-c", script], {
    cwd: world.folder,
    env: {
      PATH: process.env["PATH"],
      TY_TEST_RUN: process.env["TY_TEST_RUN"],
      PYTHONPATH: join(checkout, "libs", "sdk-python", "src"),
      PYTHONDONTWRITEBYTECODE: "1",
      TRAINYARD_URL: api,
      TRAINYARD_TOKEN: token,
    },
  });
  return JSON.parse(stdout);
}

const config = `
name: from-python
entrypoint: python3 train.py
hyperparameters: { steps: 3 }
searcher: { name: single, metric: loss }
reproducibility: { experiment_seed: 7 }
optimizations: { aggregation_frequency: 2 }
`;

const train = `
import trainyard

with trainyard.init() as ctx:
    for step in range(1, ctx.info.hparams["steps"] + 1):
        ctx.train.report_validation_metrics(step, {"loss": 1 / step})
        print(f"step {step} is done", flush=True)
        with ctx.checkpoint.store_path({"steps_completed": step}) as (path, _):
            (path / "step.txt").write_text(str(step))
`;

test("an experiment that Python submits equals the one that the command line submits", {
  timeout: slowMs,
}, async () => {
  world.write("config.yaml", config);
  world.write("code/train.py", train);
  world.write("code/data/größe.txt", "x");
  world.write("code/big.log", "left out");
  world.write("code/.detignore", "*.LOG\n");
  const ours = await world.submit(config, "code", "--paused");
  const theirs = (await python(`
import json
from trainyard import client
first = client.create_experiment("config.yaml", "code", key="once")
again = client.create_experiment("config.yaml", "code", key="once")
ended = first.wait(timeout_s=200)
print(json.dumps([first.id, again.id, ended.state, ended.best_value, first.warnings]))
`)) as readonly unknown[];
  expect(theirs).toEqual([
    theirs[0],
    theirs[0],
    "COMPLETED",
    1 / 3,
    [expect.stringContaining("optimizations")],
  ]);
  const experiment = String(theirs[0]);
  const diff = await world.client.call("diffExperiments", { experiment: ours, other: experiment });
  expect(diff).toMatchObject({ config: [], files: [], configText: "" });
  const { items } = await world.client.call("listCheckpoints", { experiment });
  expect(items.length).toBeGreaterThan(0);
});

test("Python reads the trials, metrics, logs and checkpoints of an experiment, and downloads its best checkpoint", {
  timeout: slowMs,
}, async () => {
  world.write("config.yaml", config);
  world.write("code/train.py", train);
  const read = await python(`
import json
from trainyard import client
done = client.list_experiments(filter="name : from-python and state = COMPLETED")
experiment = done[0] if done else client.create_experiment("config.yaml", "code").wait(timeout_s=200)
[trial] = experiment.list_trials(filter="state = COMPLETED", order_by="best_value")
points = trial.metrics("validation")
best = experiment.top_checkpoint()
folder = best.download("best")
best.pin("the test reads it")
print(json.dumps({
    "trial": [trial.id, trial.hparams, trial.state, trial.best_value, trial.steps_completed],
    "same": client.get_trial(trial.id).as_json()["id"] == trial.id,
    "points": [[point.steps_completed, point.metrics["loss"]] for point in points],
    "live": [point.key for point in trial.iter_metrics("validation")] == [point.key for point in points],
    "names": [name["name"] for name in trial.metric_names()],
    "logs": [str(line) for line in trial.logs(search_text="is done", source="stdout")],
    "tail": [str(line) for line in experiment.logs(tail=1, search_text="is done")],
    "followed": [str(line) for line in trial.logs(follow=True, search_text="step 2")],
    "best": [best.steps_completed, best.metrics["loss"], best.uuid == trial.top_checkpoint().uuid,
             best.uuid == experiment.top_checkpoint("loss", smaller_is_better=True).uuid],
    "file": (folder / "step.txt").read_text(),
    "files": "step.txt" in best.resources,
    "pins": [pin["reason"] for pin in best.reload().pins],
    "complete": best.uuid in [one.uuid for one in experiment.list_checkpoints("state = COMPLETED")],
    "jobs": client.list_jobs(filter="runs_waiting > 0") is not None,
    "agents": [[agent.state, agent.slots_total] for agent in client.list_agents()],
    "pools": [pool.name for pool in client.list_pools()],
    "storages": len(client.list_storages()) > 0,
    "tokens": len(client.list_tokens()) > 0,
}))
`);
  expect(read).toMatchObject({
    trial: [expect.stringMatching(/^\d+\.1$/), { steps: 3 }, "COMPLETED", 1 / 3, 3],
    same: true,
    points: [
      [1, 1],
      [2, 1 / 2],
      [3, 1 / 3],
    ],
    live: true,
    names: ["loss"],
    logs: ["step 1 is done", "step 2 is done", "step 3 is done"],
    tail: ["step 3 is done"],
    followed: ["step 2 is done"],
    best: [3, 1 / 3, true, true],
    file: "3",
    files: true,
    pins: ["the test reads it"],
    complete: true,
    jobs: true,
    agents: [["CONNECTED", 4]],
    pools: ["default"],
    storages: true,
    tokens: true,
  });
});

test("a waiting run is explained in Python, and a refusal has the platform's sentence", {
  timeout: slowMs,
}, async () => {
  world.write("code/train.py", train);
  const answer = await python(`
import json, time
from trainyard import client
config = {"name": "two-of-four", "entrypoint": "sleep 100", "resources": {"slots_per_trial": 4},
          "hyperparameters": {"lr": {"type": "double", "minval": 0, "maxval": 1}},
          "searcher": {"name": "random", "metric": "loss", "max_trials": 2, "max_concurrent_trials": 2}}
experiment = client.create_experiment(config)
end_s = time.monotonic() + 60
while not [job for job in client.list_jobs(filter="runs_waiting = 1") if job.experiment == experiment.id]:
    assert time.monotonic() < end_s
    time.sleep(0.2)
run, placed = experiment.explain().runs
experiment.kill()
said = []
for call in (lambda: client.get_trial("999999.1"), lambda: list(experiment.list_trials("nonsense < 1"))):
    try:
        call()
    except client.ApiError as error:
        said.append([error.status, error.code, str(error) != ""])
print(json.dumps([run.run.startswith(experiment.id), run.detail != "", placed.agents, said]))
`);
  expect(answer).toEqual([
    true,
    true,
    [expect.any(String)],
    [
      [404, "trial_not_found", true],
      [400, "invalid_filter", true],
    ],
  ]);
});

test("a refusal names the keys in Python, and creates nothing", { timeout: slowMs }, async () => {
  world.write("code/train.py", train);
  const answer = await python(`
import json
from trainyard import client
said = []
for config in ({"name": "a"}, {"name": "a", "entrypoint": "x", "searcher": {"name": "singl", "metric": "loss"}}):
    for call in (client.validate, lambda one: client.create_experiment(one, "code")):
        try:
            call(config)
        except client.ApiError as error:
            said.append([error.code, [path for path, _ in error.problems]])
print(json.dumps(said))
`);
  const missing = ["invalid_config", ["searcher", "entrypoint"]];
  const misspelt = ["invalid_config", ["searcher.name"]];
  expect(answer).toEqual([missing, missing, misspelt, misspelt]);
  const { items } = await world.client.call("listExperiments", {});
  expect(items.filter(({ name }) => name === "a")).toEqual([]);
});

test("a subscription that Python reads continues after a lost connection, and gets each event once", {
  timeout: slowMs,
}, async () => {
  await using link = await Link.to(Number(new URL(world.access.api).port));
  const running = python(
    `
import json
from trainyard import client
made = client.create_subscription("python", types="ModelCreated", expires_after=3600)
for name in ("python-1", "python-2"):
    client.create_model(name)
names = []
for event in made.events(ack=True):
    names.append(event.subject)
    if len(names) == 3:
        break
again = [event.subject for event in client.get_subscription("python").events(follow=False)]
made.ack(event)
left = [event.subject for event in made.events(follow=False)]
since = [one.id for one in client.events("ModelCreated", after=made.position, follow=False)]
listed = [[one.state, one.position == event.place] for one in client.list_subscriptions() if one.name == "python"]
made.delete()
try:
    made.reload()
except client.NotFoundError as error:
    print(json.dumps([names, again, left, since[-1:] == [event.id], listed, error.code]))
`,
    link.url.replace("nats:", "http:"),
  );
  const acknowledged = async () => {
    const { items } = await world.client.call("listEvents", { types: ["ModelCreated"] });
    const second = items.find(({ subject }) => subject === "model-python-2");
    const listed = await world.client.call("listSubscriptions", {});
    const own = listed.items.find(({ name }) => name === "python");
    return second !== undefined && own?.position === `${second.sequence}:${second.id}`;
  };
  await Promise.race([running, eventually("two events are acknowledged", acknowledged)]);
  link.cut();
  await world.client.call("createModel", { name: "python-3" });
  link.mend();
  const names = ["model-python-1", "model-python-2", "model-python-3"];
  const listed = [["ACTIVE", true]];
  const gone = "subscription_not_found";
  expect(await running).toEqual([names, names.slice(2), [], true, listed, gone]);
});
