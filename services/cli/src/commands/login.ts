/** The commands that store the address and the token of a cluster for later calls, also those of the Python client. */
import { clusterAccess } from "@trainyard/local-cluster/access";
import type { Command } from "commander";
import { clientAt, isHttp } from "../connection.ts";
import { outputOf } from "../context.ts";
import { type Access, loginsFile, readLogins, writeLogins } from "../logins.ts";
import { askSecret, canAsk } from "../prompts.ts";
import { UsageError } from "../usage-error.ts";

export function addLoginCommands(program: Command): void {
  program
    .command("login")
    .argument("[address]", "of the gateway, by default the embedded cluster of this checkout")
    .option("--name <name>", "of the login, by default its host and port")
    .description(
      "store a cluster, which later calls use; the token is asked for, or read from stdin",
    )
    .action(login);
  program
    .command("logout")
    .argument("[name]", "of the login, by default the current one")
    .description("forget a login; its token stays valid")
    .action(logout);
}

async function login(
  address: string | undefined,
  options: { readonly name?: string },
  command: Command,
): Promise<void> {
  const access = address === undefined ? embedded() : await asked(address);
  const name = options.name ?? (address === undefined ? "local" : new URL(address).host);
  // A token that the cluster does not take is refused before it is stored.
  await clientAt(access).call("listExperiments", { pageSize: 1 });
  const { clusters } = readLogins();
  writeLogins({ current: name, clusters: { ...clusters, [name]: access } });
  const output = outputOf(command);
  if (output.json) output.line(JSON.stringify({ name, url: access.url }));
  else output.line(`logged in to ${name}`);
  output.note(`the token is in ${loginsFile()}`);
}

function embedded(): Access {
  const cluster = clusterAccess();
  if (cluster !== null) return { url: cluster.api, token: cluster.token };
  throw new UsageError("No embedded cluster runs here: give the address of a cluster.");
}

async function asked(address: string): Promise<Access> {
  if (!isHttp(address)) {
    throw new UsageError(
      `The address of a cluster begins with http:// or https://, not ${JSON.stringify(address)}.`,
    );
  }
  const token = (canAsk() ? await askSecret("token: ") : await standardInput()).trim();
  if (token === "") throw new UsageError("There is no token: yard token create makes one.");
  return { url: address.replace(/\/+$/, ""), token };
}

async function standardInput(): Promise<string> {
  let text = "";
  for await (const chunk of process.stdin) text += String(chunk);
  return text;
}

async function logout(
  named: string | undefined,
  _options: object,
  command: Command,
): Promise<void> {
  const { current, clusters } = readLogins();
  const name = named ?? current;
  if (!Object.hasOwn(clusters, name)) {
    throw new UsageError(`There is no login with the name ${JSON.stringify(name)}.`);
  }
  const { [name]: _forgotten, ...rest } = clusters;
  writeLogins({ current: name === current ? "" : current, clusters: rest });
  const output = outputOf(command);
  if (output.json) output.line(JSON.stringify({ name }));
  else output.line(`logged out of ${name}`);
}
