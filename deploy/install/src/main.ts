// The programs of an installation. Exit code 0: done. 1: it failed, and the last line has the reason. 2: the arguments
// or settings are wrong.
import process from "node:process";
import { readEnvironment } from "@trainyard/runtime/environment";
import { exitCodeOf, reasonOf } from "@trainyard/runtime/failed-start";

type Environment = Readonly<Record<string, string>>;
type Program = (parameters: readonly string[], environment: Environment) => Promise<number>;

/** Each is loaded when it is asked for: the client of Kubernetes alone takes most of a second. */
const programs: Readonly<Record<string, () => Promise<Program>>> = {
  "nats-users": async () => (await import("./nats-users/program.ts")).natsUsers,
  keys: async () => (await import("./keys/program.ts")).keys,
  try: async () => (await import("./try/program.ts")).tryCluster,
  // The image has one entry for all.
  migrate: async () => async () => {
    await import("@trainyard/migrate/main");
    return Number(process.exitCode ?? 0);
  },
};

async function main(): Promise<number> {
  // The script that starts services passes its own argument, the name of this package.
  const given = process.argv.slice(process.argv[2] === "install" ? 3 : 2);
  const [name = "", ...parameters] = given;
  const load = Object.hasOwn(programs, name) ? programs[name] : undefined;
  if (load === undefined) {
    const names = Object.keys(programs).join(", ");
    process.stderr.write(`install: there is no program "${name}"; the programs are ${names}\n`);
    return 2;
  }
  try {
    const program = await load();
    return await program(parameters, readEnvironment());
  } catch (error) {
    process.stderr.write(`${name}: ${reasonOf(error)}\n`);
    return isUsage(error) ? 2 : exitCodeOf(error);
  }
}

/** Whether an argument is wrong: an error of parseArgs. */
const isUsage = (error: unknown): boolean =>
  error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");

process.exitCode = await main();
