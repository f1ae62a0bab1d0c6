// npm run -s service -- NAME: runs one service, or agent-1, …, as the supervisor would start it. It inherits the
// caller's environment; by default it uses the checkout's embedded cluster.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "@trainyard/kernel/program-file";
import { homeAt, homeFolder } from "@trainyard/local-cluster";
import { useCompiledPrograms } from "../lib/programs/compiled-programs.ts";
import { root } from "../lib/root.ts";

const name = process.argv[2] ?? "";
const folder = name.startsWith("agent-") ? "agent" : name;
/** The programs that are no services: that which prepares the database, and those of an installation. */
const others: Readonly<Record<string, string>> = { migrate: "libs", install: "deploy" };
const main = join(root, others[folder] ?? "services", folder, "src", "main.ts");

if (!/^[a-z0-9-]+$/.test(name) || !existsSync(main)) {
  process.stderr.write(
    `usage: npm run -s service -- NAME; there is no service called "${name}".\n`,
  );
  process.exitCode = 2;
} else {
  adoptClusterEnvironment();
  await useCompiledPrograms();
  await import(pathToFileURL(programFile(main)).href);
}

function adoptClusterEnvironment(): void {
  if (process.env["TRAINYARD_NATS_URL"] !== undefined) return;
  if (process.env["TRAINYARD_ENV_FILE"] !== undefined) return;
  const file = join(homeAt(homeFolder()).run, "environment", `${name}.env`);
  if (!existsSync(file)) return;
  process.stderr.write(`configured as ${name} of the cluster in ${homeFolder()}\n`);
  process.env["TRAINYARD_ENV_FILE"] = file;
}
