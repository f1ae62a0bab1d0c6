/** The things of a cluster that heavy requests are about, and the tokens of both callers. */
import { execFileSync } from "node:child_process";
import { resolve } from "node:path";
import type { Destination } from "../metrics/reporters.ts";
import { destinationOf } from "../metrics/stored.ts";
import { eventually } from "../world/eventually.ts";
import type { World } from "../world/world.ts";

export type StageSize = {
  readonly trials: number;
  readonly validations: number;
  /** The values of each validation. */
  readonly names: number;
};

const steps = 12;

export class HeavyStage {
  readonly world: World;
  /** An experiment with large validations, whose trials run and do nothing. */
  large = "";
  /** An experiment that has ended, with checkpoints and lines. */
  stepped = "";
  checkpoint = "";
  model = "";
  workspace = "";
  subscription = "";
  task = "";
  /** The agent that calls disable, drain and remove: the last one, or none if the cluster has only one. */
  agent = "";
  /** A folder with one file, as the field of a submission. */
  context = "";
  tokens = { heavy: "", other: "", spare: "" };
  heavyRun: Destination = { http: "", grpc: "", run: "", token: "" };
  otherRun: Destination = { http: "", grpc: "", run: "", token: "" };

  constructor(world: World) {
    this.world = world;
  }

  async fill(size: StageSize): Promise<void> {
    const { client } = this.world;
    this.world.write("idle/file", "");
    const packed = ["-czf", "-", "-C", resolve(this.world.folder, "idle"), "."];
    this.context = execFileSync("tar", packed).toString("base64");
    const newToken = async (label: string) => await client.call("createToken", { label });
    const [heavy, other, spare] = [
      await newToken("heavy"),
      await newToken("other"),
      await newToken("spare"),
    ];
    this.tokens = { heavy: heavy.secret, other: other.secret, spare: spare.token?.id ?? "" };
    const agents = (await client.call("listAgents", {})).items;
    this.agent = agents.length > 1 ? (agents.at(-1)?.name ?? "") : "none";
    this.stepped = await this.world.submit(
      config("steps", "python3 train.py", 1),
      this.world.code("steps"),
    );
    await this.world.end(this.stepped);
    this.checkpoint = await this.#completed();
    await this.#fillLarge(size);
    this.workspace = await this.createWorkspace("lasting");
    this.model = await this.createModel("lasting");
    this.subscription = await this.createSubscription("lasting");
    this.task = await this.createTask();
  }

  /** Submits trials, one more than needed, whose run is the other caller's. */
  async #fillLarge({ trials, validations, names }: StageSize): Promise<void> {
    this.large = await this.world.submit(config("large", "sleep 100000", trials + 1), "idle");
    await this.world.untilTrials(
      this.large,
      (all) =>
        all.length === trials + 1 &&
        all.every(({ runs }) => runs.some(({ state }) => state === "RUNNING")),
    );
    for (let trial = 1; trial <= trials; trial += 1) {
      const to = await destinationOf(this.world, `${this.large}.${trial}#1`);
      for (let step = 1; step <= validations; step += 1) await validate(to, step, names);
      if (trial === 1) this.heavyRun = to;
    }
    this.otherRun = await destinationOf(this.world, `${this.large}.${trials + 1}#1`);
  }

  /** The last checkpoint is kept by the policy. */
  async #completed(): Promise<string> {
    let found = "";
    await eventually("a checkpoint is complete", async () => {
      const { items } = await this.world.client.call("listCheckpoints", {
        experiment: this.stepped,
      });
      const isLast = (one: (typeof items)[number]): boolean => one.stepsCompleted === steps;
      found = items.find((one) => isLast(one) && one.state === "COMPLETED")?.uuid ?? "";
      return found !== "";
    });
    return found;
  }

  /** Creates a model with one version, to which an alias points. */
  async createModel(name: string): Promise<string> {
    const { client } = this.world;
    const request = { model: name, checkpoint: this.checkpoint, createModel: true };
    await client.call("registerModelVersion", request);
    await client.call("moveModelAlias", { model: name, alias: "best", version: "1" });
    return name;
  }

  async createWorkspace(name: string): Promise<string> {
    await this.world.client.call("createWorkspace", { name });
    await this.world.client.call("createProject", { workspace: name, name: "project" });
    return name;
  }

  async createSubscription(name: string): Promise<string> {
    const filter = { object: "experiment" };
    await this.world.client.call("createSubscription", { name, delivery: "pull", filter });
    return name;
  }

  async createTask(): Promise<string> {
    const request = { kind: "command", command: ["sleep", "3600"] };
    const { task } = await this.world.client.call("createTask", request);
    return task?.id ?? "";
  }
}

const config = (name: string, entrypoint: string, trials: number): string => `
name: ${name}
entrypoint: ${entrypoint}
hyperparameters: { lr: { type: double, minval: 0, maxval: 1 } }
searcher: { name: random, metric: loss, max_trials: ${trials}, max_concurrent_trials: ${trials} }
environment: { environment_variables: ["STEPS=${steps}"] }
`;

/** Each validation is better than the one before, so that the trial keeps all of their values. */
async function validate(to: Destination, step: number, names: number): Promise<void> {
  const metrics: Record<string, number> = { loss: 1 / step };
  for (let layer = 1; layer < names; layer += 1) metrics[`layer.${layer}.norm`] = Math.random();
  const report = {
    key: `0-${step}`,
    group: "validation",
    stepsCompleted: step,
    atMs: Date.now(),
    metrics,
  };
  const response = await fetch(`${to.http}/api/v1/runs/${encodeURIComponent(to.run)}/reports`, {
    method: "POST",
    headers: { authorization: `Bearer ${to.token}`, "content-type": "application/json" },
    body: JSON.stringify({ reports: [report] }),
  });
  if (!response.ok) throw new Error(`a validation was refused: ${await response.text()}`);
}
