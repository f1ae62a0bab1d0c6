/** The commands about workspaces and their projects. */
import { randomUUID } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import {
  ListProjectsResponseSchema,
  ListWorkspacesResponseSchema,
  type Project,
  ProjectResponseSchema,
  ProjectSchema,
  type Workspace,
  WorkspaceResponseSchema,
  WorkspaceSchema,
} from "@trainyard/contracts/api";
import type { Command } from "commander";
import { argument, type Context, withPlatform } from "../context.ts";
import { addRowOptions, listedRows, type RowOptions } from "../list-options.ts";
import { type Column, firstLine, printable, time } from "../output.ts";
import { UsageError } from "../usage-error.ts";
import { members } from "./role.ts";

type Words = { readonly description?: string; readonly notes?: string };
type Change = Words & { readonly ifMatch?: string; readonly reason?: string };
type Listing = RowOptions & { readonly archived?: boolean };
type Action<Options> = (
  context: Context,
  args: readonly string[],
  options: Options,
) => Promise<void>;

export function addWorkspaceCommands(program: Command): void {
  const workspace = program
    .command("workspace")
    .alias("w")
    .description("what holds projects and models");
  addVerbs(workspace, "workspace", ["<workspace>"], {
    create: createWorkspace,
    list: listWorkspaces,
    describe: describeWorkspace,
    update: updateWorkspace,
    archive: archiveWorkspace,
  });
  workspace
    .command("members")
    .argument("<workspace>")
    .description("who has which role in it")
    .action(withPlatform(members));
  const project = program.command("project").alias("p").description("what holds experiments");
  addVerbs(project, "project", ["<workspace>", "<project>"], {
    create: createProject,
    list: listProjects,
    describe: describeProject,
    update: updateProject,
    archive: archiveProject,
  });
}

type Verbs = {
  readonly create: Action<Words>;
  readonly list: Action<Listing>;
  readonly describe: Action<object>;
  readonly update: Action<Change>;
  readonly archive: (archived: boolean) => Action<Change>;
};

function addVerbs(group: Command, noun: string, names: readonly string[], verbs: Verbs): void {
  const add = (verb: string): Command => {
    const command = group.command(verb);
    for (const name of names) command.argument(name);
    return command;
  };
  const withWords = (command: Command): Command =>
    command
      .option("--description <text>", "one line about it")
      .option("--notes <text>", "as long as it has to be");
  withWords(add("create")).description(`a new ${noun}`).action(withPlatform(verbs.create));
  const list = addRowOptions(group.command("list").alias("ls"));
  list.option("-a, --archived", "also archived ones");
  for (const name of names.slice(0, -1)) list.argument(name);
  list.description("in the order of their creation").action(withPlatform(verbs.list));
  add("describe").description(`one ${noun}`).action(withPlatform(verbs.describe));
  withWords(add("update"))
    .option("--if-match <etag>", "refuse if it was changed since this ETag was read")
    .description("change description or notes")
    .action(withPlatform(verbs.update));
  add("archive")
    .option("--reason <text>", "why")
    .description("nothing new comes into it; what is there continues")
    .action(withPlatform(verbs.archive(true)));
  add("unarchive")
    .description("take it back into use")
    .action(withPlatform(verbs.archive(false)));
}

const once = () => ({ idempotencyKey: randomUUID() });

const createWorkspace: Action<Words> = async ({ client, output }, args, words) => {
  const request = { name: argument(args, 0), ...words };
  const answer = await client.call("createWorkspace", request, once());
  if (output.json) output.message(WorkspaceResponseSchema, answer);
  else output.line(`created workspace ${printable(answer.workspace?.name ?? "")}`);
};

const listWorkspaces: Action<Listing> = async ({ client, output }, _args, options) => {
  const { archived = false } = options;
  const items = await listedRows(output, ListWorkspacesResponseSchema, options, (asked) =>
    client.call("listWorkspaces", { archived, ...asked }),
  );
  if (items !== null) output.table(items, columns);
};

const describeWorkspace: Action<object> = async ({ client, output }, args) => {
  const workspace = await client.call("getWorkspace", { workspace: argument(args, 0) });
  output.show(WorkspaceSchema, workspace, () => fieldsOf("workspace", workspace));
};

const updateWorkspace: Action<Change> = async ({ client, output }, args, change) => {
  const request = { workspace: argument(args, 0), ...changedWords(change) };
  const answer = await client.call("updateWorkspace", request, { ...once(), ...matching(change) });
  if (output.json) output.message(WorkspaceResponseSchema, answer);
  else output.line(`workspace ${printable(request.workspace)} is changed`);
};

const archiveWorkspace =
  (archived: boolean): Action<Change> =>
  async (context, args, { reason = "" }) => {
    const { client, output } = context;
    const workspace = argument(args, 0);
    const answer = archived
      ? await client.call("archiveWorkspace", { workspace, reason }, once())
      : await client.call("unarchiveWorkspace", { workspace }, once());
    if (output.json) output.message(WorkspaceResponseSchema, answer);
    else output.line(`workspace ${printable(workspace)} is ${archived ? "archived" : "in use"}`);
  };

const createProject: Action<Words> = async ({ client, output }, args, words) => {
  const request = { workspace: argument(args, 0), name: argument(args, 1), ...words };
  const answer = await client.call("createProject", request, once());
  if (output.json) output.message(ProjectResponseSchema, answer);
  else output.line(`created project ${printable(request.name)} in ${printable(request.workspace)}`);
};

const listProjects: Action<Listing> = async ({ client, output }, args, options) => {
  const { archived = false } = options;
  const workspace = argument(args, 0);
  const items = await listedRows(output, ListProjectsResponseSchema, options, (asked) =>
    client.call("listProjects", { workspace, archived, ...asked }),
  );
  if (items !== null) output.table(items, columns);
};

const describeProject: Action<object> = async ({ client, output }, args) => {
  const project = await client.call("getProject", namesOf(args));
  output.show(ProjectSchema, project, () => [
    ["workspace", project.workspace],
    ...fieldsOf("project", project),
  ]);
};

const updateProject: Action<Change> = async ({ client, output }, args, change) => {
  const request = { ...namesOf(args), ...changedWords(change) };
  const answer = await client.call("updateProject", request, { ...once(), ...matching(change) });
  if (output.json) output.message(ProjectResponseSchema, answer);
  else output.line(`project ${printable(request.project)} is changed`);
};

const archiveProject =
  (archived: boolean): Action<Change> =>
  async (context, args, { reason = "" }) => {
    const { client, output } = context;
    const names = namesOf(args);
    const answer = archived
      ? await client.call("archiveProject", { ...names, reason }, once())
      : await client.call("unarchiveProject", names, once());
    if (output.json) output.message(ProjectResponseSchema, answer);
    else output.line(`project ${printable(names.project)} is ${archived ? "archived" : "in use"}`);
  };

const namesOf = (args: readonly string[]) => ({
  workspace: argument(args, 0),
  project: argument(args, 1),
});

function changedWords({ description, notes }: Words): Words {
  if (description === undefined && notes === undefined) {
    throw new UsageError("Give --description or --notes.");
  }
  return {
    ...(description === undefined ? {} : { description }),
    ...(notes === undefined ? {} : { notes }),
  };
}

const matching = ({ ifMatch }: Change) => (ifMatch === undefined ? {} : { ifMatch });

type Space = Pick<
  Plain<Workspace>,
  "name" | "description" | "archived" | "createdBy" | "createdAtMs"
>;

const columns: readonly Column<Space>[] = [
  { title: "NAME", value: ({ name }) => name },
  { title: "STATE", value: ({ archived }) => (archived ? "archived" : "") },
  { title: "DESCRIPTION", value: ({ description }) => firstLine(description) },
  { title: "CREATED", value: (one) => time(one.createdAtMs) },
  { title: "BY", value: ({ createdBy }) => createdBy },
];

function fieldsOf(
  noun: string,
  space: Plain<Workspace> | Plain<Project>,
): readonly (readonly [string, string])[] {
  return [
    [noun, space.name],
    ["description", space.description],
    ["notes", space.notes],
    ["archived", space.archived ? "yes" : ""],
    ["created", time(space.createdAtMs)],
    ["by", space.createdBy],
    ["etag", space.etag],
  ];
}
