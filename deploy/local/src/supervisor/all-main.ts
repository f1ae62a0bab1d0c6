/**
 * All services in one process, each with the same configuration, role, pool and NATS user as in a process of its own.
 * Arguments: the folder of the environment files, then the folder of each service. If a service fails to start, the
 * process ends, and the supervisor starts all of them again.
 */
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { programFile } from "@trainyard/kernel/program-file";
import { parseEnvFile } from "@trainyard/runtime/environment";
import { runMain, type Service } from "@trainyard/runtime/service";

type ConfigModule = {
  readonly parseConfig: (environment: Readonly<Record<string, string>>) => unknown;
};
type ServiceModule = {
  readonly createService: (config: unknown) => Service | Promise<Service>;
};

async function createOne(environments: string, folder: string): Promise<Service> {
  const load = (file: string): Promise<unknown> =>
    import(pathToFileURL(programFile(join(folder, "src", file))).href);
  const { parseConfig } = (await load("config.ts")) as ConfigModule;
  const { createService } = (await load("service.ts")) as ServiceModule;
  const file = join(environments, `${basename(folder)}.env`);
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined,
  );
  // The process's variables override those of the service's file, as for a service in a separate process.
  const environment = { ...parseEnvFile(readFileSync(file, "utf8")), ...Object.fromEntries(own) };
  return createService(parseConfig(environment));
}

async function createAll(): Promise<Service> {
  const [environments = "", ...folders] = process.argv.slice(2);
  const services = await Promise.all(folders.map((folder) => createOne(environments, folder)));
  return {
    name: "trainyard",
    async start() {
      await Promise.all(services.map((service) => service.start()));
    },
    readiness() {
      const problems = services.flatMap((service) => {
        const problem = service.readiness();
        return problem === null ? [] : [`${service.name}: ${problem}`];
      });
      return problems.length === 0 ? null : problems.join("; ");
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(services.map((service) => service[Symbol.asyncDispose]()));
    },
  };
}

await runMain(createAll);
