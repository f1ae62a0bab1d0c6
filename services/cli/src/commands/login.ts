/** The commands that store the address and the token of a cluster for later calls, also those of the Python client. */
import { ApiError, Client, Unreachable } from "@trainyard/client";
import { clusterAccess } from "@trainyard/local-cluster/access";
import type { Command } from "commander";
import { clientAt, isHttp } from "../connection.ts";
import { outputOf } from "../context.ts";
import { deviceLogin } from "../device-login.ts";
import { type Login, loginsFile, readLogins, writeLogins } from "../logins.ts";
import type { Output } from "../output.ts";
import { askSecret, canAsk, standardInput } from "../prompts.ts";
import { UsageError } from "../usage-error.ts";

type Options = { readonly name?: string; readonly token?: boolean };

export function addLoginCommands(program: Command): void {
  program
    .command("login")
    .argument("[address]", "of the gateway, by default the embedded cluster of this checkout")
    .option("--name <name>", "of the login, by default its host and port")
    .option("--token", "store a token that you have: it is asked for, or read from stdin")
    .description("sign in to a cluster in a browser; later calls use it")
    .action(login);
  program
    .command("logout")
    .argument("[name]", "of the login, by default the current one")
    .description(
      "forget a login; a token that yard login made is revoked, with those that were created with it",
    )
    .action(logout);
}

async function login(
  address: string | undefined,
  options: Options,
  command: Command,
): Promise<void> {
  const output = outputOf(command);
  const access = address === undefined ? embedded() : await signedIn(address, options, output);
  const name = options.name ?? (address === undefined ? "local" : new URL(address).host);
  // A token that the cluster does not take is refused before it is stored.
  await clientAt(access).call("listExperiments", { pageSize: 1 });
  const { clusters } = readLogins();
  writeLogins({ current: name, clusters: { ...clusters, [name]: access } });
  const { url, user } = access;
  if (output.json) output.line(JSON.stringify({ name, url, user }));
  else output.line(`logged in to ${name}${user === undefined ? "" : ` as ${user}`}`);
  output.note(`the token is in ${loginsFile()}`);
}

function embedded(): Login {
  const cluster = clusterAccess();
  if (cluster !== null) return { url: cluster.api, token: cluster.token };
  throw new UsageError("No embedded cluster runs here: give the address of a cluster.");
}

async function signedIn(address: string, options: Options, output: Output): Promise<Login> {
  if (!isHttp(address)) {
    throw new UsageError(
      `The address of a cluster begins with http:// or https://, not ${JSON.stringify(address)}.`,
    );
  }
  const url = address.replace(/\/+$/, "");
  if (options.token !== true) {
    return await deviceLogin(new Client({ url }), url, (line) => output.note(line));
  }
  const token = (canAsk() ? await askSecret("token: ") : await standardInput()).trim();
  if (token === "") throw new UsageError("There is no token: yard token create makes one.");
  return { url, token };
}

async function logout(
  named: string | undefined,
  _options: object,
  command: Command,
): Promise<void> {
  const { current, clusters } = readLogins();
  const name = named ?? current;
  const login = Object.hasOwn(clusters, name) ? clusters[name] : undefined;
  if (login === undefined) {
    if (name === "") throw new UsageError("There is no login to forget.");
    throw new UsageError(`There is no login with the name ${JSON.stringify(name)}.`);
  }
  const { [name]: _forgotten, ...rest } = clusters;
  writeLogins({ current: name === current ? "" : current, clusters: rest });
  const output = outputOf(command);
  if (login.user !== undefined) await revoke(login, output);
  if (output.json) output.line(JSON.stringify({ name }));
  else output.line(`logged out of ${name}`);
}

/** Revokes a token that yard login made: nobody else has it. */
async function revoke(login: Login, output: Output): Promise<void> {
  const client = clientAt(login);
  try {
    const { token } = await client.call("getCurrentSession", {});
    await client.call("revokeToken", { token });
  } catch (error) {
    if (!(error instanceof ApiError) && !(error instanceof Unreachable)) throw error;
    // A token that has ended needs no end.
    if (error instanceof ApiError && error.problem.status === 401) return;
    output.note(`its token is not revoked: ${error.message}`);
  }
}
