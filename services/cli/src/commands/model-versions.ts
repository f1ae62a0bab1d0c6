/** The commands about model versions: register, find, compare, export. */
import { randomUUID } from "node:crypto";
import { isPositionMetric, type Plain } from "@trainyard/contracts";
import {
  BestModelVersionsResponseSchema,
  ListModelVersionsResponseSchema,
  type ModelVersion,
  ModelVersionResponseSchema,
  ModelVersionSchema,
} from "@trainyard/contracts/api";
import { type Command, Option } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { collect, wholeNumberOf } from "../option-values.ts";
import { type Column, number, time } from "../output.ts";
import { allPages } from "../pages.ts";
import { UsageError } from "../usage-error.ts";
import { addFolderCommand } from "./model-folder.ts";
import { exportVersion } from "./model-export.ts";
import { addWordOptions, newWords, type WordOptions } from "./model-words.ts";

const whereHelp =
  "metrics.loss<0.5, hparams.lr=0.1, metadata.dataset=v2, step>100 or label=prod; may be given several times, and all must hold";
const versionHelp = "a number, a semantic version, an alias, or latest";

export function addVersionCommands(group: Command): void {
  addWordOptions(
    group
      .command("register")
      .alias("register-version")
      .argument("<model>")
      .argument("<checkpoint>", "the UUID of a complete checkpoint"),
  )
    .option("--semver <version>", "a semantic version, such as 1.2.0")
    .option("--create", "create the model if it does not exist")
    .description("make a checkpoint a version; it is kept until the version is removed")
    .action(withPlatform<RegisterOptions>(register));
  addFolderCommand(group);
  group
    .command("versions")
    .alias("list-versions")
    .argument("<model>")
    .option("--where <condition>", whereHelp, collect)
    .description("its versions, the newest first")
    .action(withPlatform<Where>(versions));
  group
    .command("best")
    .argument("<model>")
    .argument("<metric>")
    .option("--where <condition>", whereHelp, collect)
    .addOption(
      new Option("--order <order>", "which value is the best, if no search says so").choices([
        "min",
        "max",
      ]),
    )
    .option("--limit <count>", "that many, the best first", "1")
    .description("its best version by a metric")
    .action(withPlatform<BestOptions>(best));
  group
    .command("compare")
    .argument("<model>")
    .argument("<versions...>", versionHelp)
    .description("what differs between versions, side by side")
    .action(compareAction);
  group
    .command("remove-version")
    .argument("<model>")
    .argument("<version>", versionHelp)
    .option("--reason <text>", "why")
    .description("remove a version; its checkpoint may then be deleted")
    .action(withPlatform<{ readonly reason?: string }>(remove));
  group
    .command("export")
    .alias("download")
    .argument("<model>")
    .argument("<version>", versionHelp)
    .argument("[folder]", "where to, by default MODEL-NUMBER")
    .description("a version as a folder: its files, the code, what is known, and how to load it")
    .action(withPlatform(download));
}

/** The last argument of this action is a list, unlike those of the other actions. */
const compareAction = async (
  model: string,
  names: readonly string[],
  _options: unknown,
  command: Command,
): Promise<void> => {
  const act = withPlatform((context: Context) => compare(context, model, names));
  await act({}, command);
};

type RegisterOptions = WordOptions & { readonly semver?: string; readonly create?: boolean };

async function register(
  { client, output }: Context,
  args: readonly string[],
  options: RegisterOptions,
): Promise<void> {
  const [model = "", checkpoint = ""] = args;
  const { semver: semanticVersion = "", create: createModel = false } = options;
  const request = { model, checkpoint, semanticVersion, createModel, ...newWords(options) };
  const key = { idempotencyKey: randomUUID() };
  const answer = await client.call("registerModelVersion", request, key);
  if (output.json) output.message(ModelVersionResponseSchema, answer);
  else output.line(`checkpoint ${checkpoint} is version ${answer.version?.number} of ${model}`);
}

type Where = { readonly where?: readonly string[] };

const columns: readonly Column<Plain<ModelVersion>>[] = [
  { title: "VERSION", value: (version) => String(version.number), right: true },
  { title: "SEMVER", value: ({ semanticVersion }) => semanticVersion },
  { title: "ALIASES", value: ({ aliases }) => aliases.join(", ") },
  { title: "CHECKPOINT", value: ({ checkpoint }) => checkpoint },
  { title: "TRIAL", value: ({ trial }) => trial, right: true },
  { title: "STEPS", value: (version) => String(version.stepsCompleted), right: true },
  { title: "METRICS", value: metricsText },
  { title: "LABELS", value: ({ labels }) => labels.join(", ") },
  { title: "REGISTERED", value: (version) => time(version.registeredAtMs) },
];

/** Returns the metric of the search as text, or the first few metrics if the version lacks it. */
function metricsText({ metrics, searcherMetric }: Plain<ModelVersion>): string {
  const names = Object.hasOwn(metrics, searcherMetric)
    ? [searcherMetric]
    : Object.keys(valuesOf(metrics)).toSorted().slice(0, 3);
  return names.map((name) => `${name}=${number(metrics[name])}`).join(", ");
}

/** Metrics without those that are the position of the training, which say nothing about a version. */
const valuesOf = (metrics: Readonly<Record<string, number>>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(metrics).filter(([name]) => !isPositionMetric(name)));

async function versions(
  { client, output }: Context,
  args: readonly string[],
  { where = [] }: Where,
): Promise<void> {
  const asked = { model: argument(args, 0), where: [...where] };
  const page = await allPages((start) => client.call("listModelVersions", { ...asked, ...start }));
  if (output.json) output.message(ListModelVersionsResponseSchema, page);
  else output.table(page.items, columns);
}

type BestOptions = Where & { readonly order?: string; readonly limit: string };

async function best(
  { client, output }: Context,
  args: readonly string[],
  { where = [], order = "", limit }: BestOptions,
): Promise<void> {
  const [model = "", metric = ""] = args;
  const asked = { model, metric, order, where: [...where] };
  const most = wholeNumberOf("--limit", limit, 1);
  const answer = await client.call("bestModelVersions", { ...asked, limit: most });
  if (output.json) {
    output.message(BestModelVersionsResponseSchema, answer);
    return;
  }
  const value = ({ metrics }: Plain<ModelVersion>): string => number(metrics[metric]);
  output.table(answer.items, [{ title: metric, value, right: true }, ...columns]);
}

export async function describeVersion(
  { client, output }: Context,
  model: string,
  name: string,
): Promise<void> {
  const version = await client.call("getModelVersion", { model, version: name });
  output.show(ModelVersionSchema, version, () => [
    ["model", version.model],
    ["version", String(version.number)],
    ["semantic version", version.semanticVersion],
    ["aliases", version.aliases.join(", ")],
    ["state", version.state],
    ["reason", version.reason],
    ["description", version.description],
    ["labels", version.labels.join(", ")],
    ["metadata", JSON.stringify(version.metadata ?? {})],
    ["checkpoint", version.checkpoint],
    ["experiment", version.experiment],
    ["task", version.task ?? ""],
    ["uploaded", version.uploadedBy === undefined ? "" : `from a folder by ${version.uploadedBy}`],
    ["trial", version.trial],
    ["run", version.run === 0 ? "" : String(version.run)],
    ["steps", version.run === 0 ? "" : String(version.stepsCompleted)],
    ["metrics", JSON.stringify(valuesOf(version.metrics))],
    ["hyperparameters", JSON.stringify(version.hyperparameters ?? {})],
    ["data", version.data === undefined ? "" : JSON.stringify(version.data)],
    ["code", version.codeDigest],
    ["registered", `${time(version.registeredAtMs)} by ${version.registeredBy}`],
    ["notes", version.notes],
  ]);
}

async function compare(
  { client, output }: Context,
  model: string,
  names: readonly string[],
): Promise<void> {
  if (names.length < 2) throw new UsageError("Give at least two versions to compare.");
  const found = await Promise.all(
    names.map((version) => client.call("getModelVersion", { model, version })),
  );
  if (output.json) {
    output.message(ListModelVersionsResponseSchema, {
      items: found,
      nextPageToken: "",
      position: "",
    });
    return;
  }
  const facts = found.map(factsOf);
  const rows = [...new Set(facts.flatMap((one) => [...one.keys()]))].filter(
    (name) => new Set(facts.map((one) => one.get(name) ?? "")).size > 1,
  );
  output.table(rows, [
    { title: "", value: (name) => name },
    ...found.map((version, at) => ({
      title: `VERSION ${version.number}`,
      value: (name: string) => facts[at]?.get(name) ?? "",
    })),
  ]);
}

/** The facts that may differ between versions, in the order of the table. */
function factsOf(version: Plain<ModelVersion>): ReadonlyMap<string, string> {
  const shown = (value: unknown): string =>
    typeof value === "string"
      ? value
      : typeof value === "number"
        ? number(value)
        : JSON.stringify(value);
  const below = (kind: string, values: object): [string, string][] =>
    Object.entries(values)
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([name, value]) => [`${kind}.${name}`, shown(value)]);
  return new Map<string, string>([
    ["semantic version", version.semanticVersion],
    ["aliases", version.aliases.join(", ")],
    ["labels", version.labels.join(", ")],
    ...below("metrics", valuesOf(version.metrics)),
    ...below("hparams", version.hyperparameters ?? {}),
    ...below("metadata", version.metadata ?? {}),
    ...below("data", version.data ?? {}),
    ["steps", String(version.stepsCompleted)],
    ["experiment", version.experiment],
    ["trial", version.trial],
    ["checkpoint", version.checkpoint],
    ["code", version.codeDigest],
    ["description", version.description],
    ["registered", `${time(version.registeredAtMs)} by ${version.registeredBy}`],
  ]);
}

async function remove(
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: { readonly reason?: string },
): Promise<void> {
  const request = { model: argument(args, 0), version: argument(args, 1), reason };
  const key = { idempotencyKey: randomUUID() };
  const answer = await client.call("removeModelVersion", request, key);
  if (output.json) output.message(ModelVersionResponseSchema, answer);
  else output.line(`version ${answer.version?.number} of model ${request.model} is removed`);
}

async function download({ client, output }: Context, args: readonly string[]): Promise<void> {
  const [model = "", name = "", folder] = args;
  const version = await client.call("getModelVersion", { model, version: name });
  const shown = folder ?? `${model}-${version.number}`;
  await exportVersion(client, version, shown);
  output.note(`version ${version.number} of model ${model} is in ${shown}`);
}
