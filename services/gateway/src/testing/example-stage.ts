/** A gateway that has what the examples of the API name, and simulated services that accept every command. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { DescService } from "@bufbuild/protobuf";
import { codecOf } from "@trainyard/contracts";
import type { CommandService } from "@trainyard/contracts/command-services";
import * as services from "@trainyard/contracts/commands";
import { create as createTar } from "tar";
import {
  agentStart,
  created,
  requested,
  searchStarted,
  taskCreated,
  trialCreated,
  validation,
} from "./example-events.ts";
import type { TestGateway } from "./test-gateway.ts";

const checkpoint = "0193c5a0-0000-4000-8000-000000000001";
const words = { description: "", notes: "", labels: [] as string[], by: "ada" };
const sha256 = "0".repeat(64);

const accepting: readonly (readonly [CommandService, DescService])[] = [
  ["checkpoint-gc", services.CheckpointGcCommandService],
  ["experiments", services.ExperimentsCommandService],
  ["feeds", services.FeedsCommandService],
  ["logs", services.LogsCommandService],
  ["metrics", services.MetricsCommandService],
  ["registry", services.RegistryCommandService],
  ["scheduler", services.SchedulerCommandService],
  ["searcher", services.SearcherCommandService],
];

/** Makes the experiments, then everything else, then the services. */
export async function stageExamples(gateway: TestGateway): Promise<AsyncDisposable> {
  const stack = new AsyncDisposableStack();
  await submitExperiments(gateway);
  const position = await appendHistory(gateway);
  await writeFiles(gateway);
  const answers = answersOf(join(gateway.checkpointDir, checkpoint));
  for (const [service, { methods }] of accepting) {
    const all = [...methods, ...services.CommonCommandService.methods].map(({ name, output }) => {
      const reply = codecOf<object>(output).fromJson({});
      const stream = name.includes("Task") ? "task-t1" : "experiment-1";
      const facts: Readonly<Record<string, unknown>> = { position, stream, ...answers[name] };
      const own = Object.entries(facts).filter(
        ([field]) => field in reply || field in (answers[name] ?? {}),
      );
      const answer = { ...reply, ...Object.fromEntries(own) };
      return [name, async (asked: object) => ofOwner(answer, asked)] as const;
    });
    stack.use(await gateway.serving(service, Object.fromEntries(all)));
  }
  await addPeople(gateway);
  return stack;
}

/** Creates the users and groups. From the first user on, the gateway's token is of the service account `local`. */
async function addPeople(gateway: TestGateway): Promise<void> {
  for (const name of ["ada", "bo"]) await gateway.call("POST", "/api/v1/users", { body: { name } });
  for (const name of ["vision-team", "audio-team", "old-team"]) {
    await gateway.call("POST", "/api/v1/groups", { body: { name, members: ["ada"] } });
  }
}

/** Returns the answer without the items of others, if the request asks for those of one owner. */
function ofOwner(answer: object, asked: object): object {
  if (!("items" in answer) || !("owner" in asked) || asked.owner === "") return answer;
  const items = answer.items as readonly { readonly reader?: { readonly owner: string } }[];
  return { ...answer, items: items.filter(({ reader }) => reader?.owner === asked.owner) };
}

/** The answers of services in which a default does not do. */
function answersOf(path: string): Readonly<Record<string, object>> {
  const subscription = codecOf<object>(services.SubscriptionFactsSchema).fromJson({
    ...{ name: "nightly", delivery: "pull", state: "ACTIVE", filter: {} },
    reader: { owner: "admin", tokenId: "1" },
  });
  return {
    PlanCheckpointDownload: {
      ...{ checkpoint, path, metadata: { epoch: 1 } },
      manifest: [{ path: "model.pt", bytes: 7, sha256, partSha256: [], md5: "" }],
    },
    ExplainRetention: {
      policy: { saveExperimentBest: 1, saveTrialBest: 1, saveTrialLatest: 1 },
      verdicts: [codecOf<object>(services.RetentionVerdictSchema).fromJson({ checkpoint })],
    },
    GetPools: { pools: [{ pool: "default", policy: "priority", settings: { quotas: [] } }] },
    ListSubscriptions: { items: [subscription, { ...subscription, name: "notify" }] },
    ...Object.fromEntries(
      ["RegisterVersion", "DescribeVersion", "RemoveVersion", "MoveAlias", "RemoveAlias"].map(
        (name) => [name, { number: 1 }],
      ),
    ),
  };
}

async function submitExperiments(gateway: TestGateway): Promise<void> {
  let number = 0;
  await using _experiments = await gateway.serving("experiments", {
    CreateExperiment: async ({ paused: _paused, config = {}, parent, ...given }) => {
      number += 1;
      const stream = `experiment-${number}`;
      const made = created({ ...given, config, ...(parent && { parent }) });
      return { position: await gateway.append(stream, made), stream };
    },
  });
  const config =
    "entrypoint: python3 train.py\nsearcher: {name: single, metric: loss, max_time: 4}\n";
  const context = await packedCode();
  for (const name of ["iris", "flowers"]) {
    const body = { config: `name: ${name}\n${config}`, context };
    await gateway.call("POST", "/api/v1/experiments", { body });
  }
}

async function packedCode(): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "trainyard-examples-"));
  await writeFile(join(cwd, "train.py"), "print('train')\n");
  const file = join(cwd, "code.tar.gz");
  await createTar({ cwd, file, gzip: true, portable: true }, ["train.py"]);
  const bytes = await readFile(file);
  await rm(cwd, { recursive: true });
  return bytes.toString("base64");
}

async function appendHistory(gateway: TestGateway): Promise<number> {
  await gateway.append("search-1", searchStarted());
  const started = { type: "RunStarted", data: { run: 1, allocation: "1.1#1" } } as const;
  await gateway.append("trial-1.1", trialCreated(1), requested(1, 0), started);
  await gateway.append("measurement-1.1", validation({ step: 1, loss: 0.5 }));
  const place = { trial: "1.1", run: 1, step: 1 };
  await gateway.append(
    `checkpoint-${checkpoint}`,
    { type: "CheckpointDeclared", data: { ...place, uploadedBy: "", format: "" } },
    { type: "CheckpointCompleted", data: { ...place, files: 1, bytes: 7, manifestDigest: sha256 } },
  );
  const config = { environment: { proxy_ports: [{ proxy_port: 8888 }] } };
  await gateway.append("task-t1", taskCreated({ config }));
  await gateway.append(
    "task-t2",
    taskCreated({ kind: "tensorboard", sources: ["1"] }),
    requested(1, 0),
  );
  await gateway.append("agent-rack", {
    type: "AgentJoined",
    data: {
      ...{ pool: "default", labels: {}, version: "1", address: "h", ...agentStart },
      slots: [{ id: "0", device: "cpu", uuid: "", memoryBytes: 0 }],
    },
  });
  const model = { type: "ModelCreated", data: { ...words, workspace: "" } } as const;
  await gateway.append("model-flowers", model);
  const position = await gateway.append("model-iris", model, {
    type: "VersionRegistered",
    data: {
      ...{ checkpoint, ...place, semanticVersion: "" },
      ...{ metrics: { loss: 0.5 }, number: 1, ...words },
    },
  });
  await gateway.call("GET", `/api/v1/models/iris?minPosition=${position}`);
  await gateway.call("POST", "/api/v1/workspaces", { body: { name: "research" } });
  await gateway.call("POST", "/api/v1/workspaces/research/projects", { body: { name: "vision" } });
  return position;
}

/** Writes the checkpoint and a TensorBoard file of the trial. */
async function writeFiles(gateway: TestGateway): Promise<void> {
  const { body } = await gateway.call("GET", "/api/v1/version");
  const board = ["tensorboard", String(body["log"]), "experiment", "1", "trial", "1.1"];
  for (const [folder, name] of [
    [[checkpoint], "model.pt"],
    [board, "events.out.tfevents.1"],
  ] as const) {
    const path = join(gateway.checkpointDir, ...folder);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, name), "content");
  }
}
