/**
 * Several agents in one process, described by the given environment files: a kill or a freeze affects all of them, like
 * the hosts of one rack. Prints "ready" once all of them serve.
 */
import { readFileSync } from "node:fs";
import { parseConfig } from "@trainyard/service-agent/config";
import { createService } from "@trainyard/service-agent";
import { parseEnvFile } from "@trainyard/runtime";

const services = await Promise.all(
  process.argv.slice(2).map(async (file) => {
    const environment = parseEnvFile(readFileSync(file, "utf8"));
    const { PATH = "", TY_TEST_RUN = "" } = process.env;
    return createService(parseConfig({ PATH, TY_TEST_RUN, ...environment }));
  }),
);
await Promise.all(services.map((service) => service.start()));
process.stdout.write("ready\n");
process.on("SIGTERM", () => {
  void Promise.all(services.map((service) => service.shutDownRuns())).finally(() => process.exit());
});
