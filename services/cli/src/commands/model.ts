/** The commands about models and their aliases. The commands about versions are in model-versions.ts. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  ListModelAliasMovesResponseSchema,
  ListModelsResponseSchema,
  type Model,
  ModelResponseSchema,
  ModelSchema,
  ModelVersionResponseSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { collect } from "../option-values.ts";
import { time } from "../output.ts";
import { allPages } from "../pages.ts";
import { addVersionCommands, describeVersion } from "./model-versions.ts";
import { addMoveModel } from "./move.ts";
import { addWordOptions, changedWords, newWords, type WordOptions } from "./model-words.ts";

type Reasoned = { readonly reason?: string };

export function addModelCommands(program: Command): void {
  const group = program
    .command("model")
    .alias("m")
    .description("models, their versions, and the aliases that name a version");
  addWordOptions(group.command("create").argument("<model>"))
    .option("--workspace <name>", "the workspace that it belongs to")
    .description("a new model without versions")
    .action(withPlatform<CreateOptions>(create));
  addRowOptions(group.command("list"))
    .alias("ls")
    .option("--name <text>", "only models whose name contains it")
    .option("--label <label>", "only models with this label; may be given several times", collect)
    .option("--archived", "also archived models")
    .description("all of them, the newest first")
    .action(withPlatform<ListOptions>(list));
  group
    .command("describe")
    .argument("<model>")
    .argument("[version]", "a number, a semantic version, an alias, or latest")
    .description("a model, or one of its versions with where it comes from")
    .action(withPlatform(describe));
  addWordOptions(group.command("label").alias("edit").argument("<model>").argument("[version]"))
    .option("--remove-label <label>", "may be given several times", collect)
    .description("change the labels, description, notes or metadata of a model or a version")
    .action(withPlatform<WordOptions>(label));
  for (const verb of ["archive", "unarchive"] as const) {
    const command = group.command(verb).argument("<model>");
    if (verb === "archive") command.option("--reason <text>", "why");
    command
      .description(
        verb === "archive" ? "take no more versions, and move no alias" : "take it back into use",
      )
      .action(
        withPlatform<Reasoned>((context, args, options) => archive(verb, context, args, options)),
      );
  }
  addAliasCommands(group);
  addVersionCommands(group);
  addMoveModel(group);
}

function addAliasCommands(group: Command): void {
  group
    .command("alias")
    .argument("<model>")
    .argument("<alias>", "a word, such as champion")
    .argument("<version>", "a number, a semantic version, another alias, or latest")
    .option("--reason <text>", "why")
    .description("let an alias name a version")
    .action(
      withPlatform<Reasoned>((context, args, options) =>
        move(context, args, args[1] ?? "", args[2] ?? "", options.reason ?? ""),
      ),
    );
  group
    .command("promote")
    .argument("<model>")
    .argument("<version>", "a number, a semantic version, an alias, or latest")
    .requiredOption("--reason <text>", "why: it stays in the history of the alias")
    .option("--to <alias>", "the alias", "champion")
    .description("let the alias champion, or another, name a version")
    .action(
      withPlatform<{ readonly reason: string; readonly to: string }>((context, args, options) =>
        move(context, args, options.to, args[1] ?? "", options.reason),
      ),
    );
  group
    .command("unalias")
    .argument("<model>")
    .argument("<alias>")
    .option("--reason <text>", "why")
    .description("remove an alias; the version stays")
    .action(withPlatform<Reasoned>(unalias));
  group
    .command("aliases")
    .argument("<model>")
    .argument("[alias]")
    .description("every move of its aliases, the latest first, with the reasons")
    .action(withPlatform(aliases));
}

type CreateOptions = WordOptions & { readonly workspace?: string };

async function create(
  { client, output }: Context,
  args: readonly string[],
  options: CreateOptions,
): Promise<void> {
  const name = argument(args, 0);
  const request = { name, ...newWords(options), workspace: options.workspace ?? "" };
  const answer = await client.call("createModel", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(ModelResponseSchema, answer);
  else output.line(`model ${name} is created`);
}

type ListOptions = RowOptions & {
  readonly name?: string;
  readonly label?: readonly string[];
  readonly archived?: boolean;
};

async function list(
  { client, output }: Context,
  _args: readonly string[],
  options: ListOptions,
): Promise<void> {
  const { name = "", label: labels = [], archived = false } = options;
  const wanted = { name, labels: [...labels], archived };
  const items = await listedRows(output, ListModelsResponseSchema, options, (asked) =>
    client.call("listModels", { ...wanted, ...asked }),
  );
  if (items === null) return;
  output.table(items, [
    { title: "MODEL", value: ({ name: model }) => model },
    { title: "VERSIONS", value: ({ versions }) => String(versions), right: true },
    { title: "ALIASES", value: aliasText },
    { title: "LABELS", value: (model) => model.labels.join(", ") },
    { title: "CHANGED", value: (model) => time(model.changedAtMs) },
    { title: "DESCRIPTION", value: ({ description }) => description },
    ...(archived
      ? [
          {
            title: "STATE",
            value: (model: Plain<Model>) => (model.archived ? "ARCHIVED" : "ACTIVE"),
          },
        ]
      : []),
  ]);
}

function aliasText({ aliases: named }: Plain<Model>): string {
  const names = Object.keys(named).toSorted();
  return names.map((alias) => `${alias}=${named[alias]}`).join(", ");
}

async function describe(context: Context, args: readonly string[]): Promise<void> {
  const [name = "", version] = args;
  if (version !== undefined) return describeVersion(context, name, version);
  const { client, output } = context;
  const model = await client.call("getModel", { model: name });
  output.show(ModelSchema, model, () => [
    ["model", model.name],
    ["description", model.description],
    ["state", model.archived ? "ARCHIVED" : "ACTIVE"],
    ["workspace", model.workspace],
    ["versions", String(model.versions)],
    ["latest number", String(model.latestNumber)],
    ["aliases", aliasText(model)],
    ["labels", model.labels.join(", ")],
    ["metadata", JSON.stringify(model.metadata ?? {})],
    ["created", `${time(model.createdAtMs)} by ${model.createdBy}`],
    ["changed", time(model.changedAtMs)],
    ["notes", model.notes],
  ]);
}

async function label(
  { client, output }: Context,
  args: readonly string[],
  options: WordOptions,
): Promise<void> {
  const [model = "", version] = args;
  const words = changedWords(options);
  const key = { idempotencyKey: randomUUID() };
  if (version === undefined) {
    const answer = await client.call("updateModel", { model, ...words }, key);
    if (output.json) output.message(ModelResponseSchema, answer);
    else output.line(`model ${model} is changed`);
    return;
  }
  const answer = await client.call("updateModelVersion", { model, version, ...words }, key);
  if (output.json) output.message(ModelVersionResponseSchema, answer);
  else output.line(`version ${answer.version?.number} of model ${model} is changed`);
}

async function archive(
  verb: "archive" | "unarchive",
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: Reasoned,
): Promise<void> {
  const model = argument(args, 0);
  const key = { idempotencyKey: randomUUID() };
  const answer =
    verb === "archive"
      ? await client.call("archiveModel", { model, reason }, key)
      : await client.call("unarchiveModel", { model }, key);
  if (output.json) output.message(ModelResponseSchema, answer);
  else output.line(`model ${model} is ${verb === "archive" ? "archived" : "in use again"}`);
}

async function move(
  { client, output }: Context,
  args: readonly string[],
  alias: string,
  version: string,
  reason: string,
): Promise<void> {
  const request = { model: argument(args, 0), alias, version, reason };
  const answer = await client.call("moveModelAlias", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(ModelVersionResponseSchema, answer);
  else output.line(`${alias} of model ${request.model} is version ${answer.version?.number}`);
}

async function unalias(
  { client, output }: Context,
  args: readonly string[],
  { reason = "" }: Reasoned,
): Promise<void> {
  const request = { model: argument(args, 0), alias: argument(args, 1), reason };
  const answer = await client.call("removeModelAlias", request, { idempotencyKey: randomUUID() });
  if (output.json) output.message(ModelResponseSchema, answer);
  else output.line(`model ${request.model} has no alias ${request.alias} any more`);
}

async function aliases({ client, output }: Context, args: readonly string[]): Promise<void> {
  const asked = { model: argument(args, 0), alias: argument(args, 1) };
  const page = await allPages((start) =>
    client.call("listModelAliasMoves", { ...asked, ...start }),
  );
  if (output.json) {
    output.message(ListModelAliasMovesResponseSchema, page);
    return;
  }
  const shown = (number: number): string => (number === 0 ? "none" : String(number));
  output.table(page.items, [
    { title: "ALIAS", value: ({ alias }) => alias },
    { title: "FROM", value: ({ fromNumber }) => shown(fromNumber), right: true },
    { title: "TO", value: ({ number }) => shown(number), right: true },
    { title: "AT", value: ({ atMs }) => time(atMs) },
    { title: "BY", value: ({ by }) => by },
    { title: "REASON", value: ({ reason }) => reason },
  ]);
}
