/**
 * Several agents in one process, as the environment files that it is given describe them: when it is killed or frozen,
 * so are all of them, like the hosts of one rack. Says "ready" once all of them serve.
 */
import { readFileSync } from "node:fs";
import { parseConfig } from "@trainyard/service-agent/config";
import { createService } from "@trainyard/service-agent";
import { parseEnvFile } from "@trainyard/runtime";

const services = await Promise.all(
  process.argv.slice(2).map(async (file) => {
    const environment = parseEnvFile(readFileSync(file, "utf8"));
    const { PATH = "" } = process.env;
    return createService(parseConfig({ PATH, ...environment }));
  }),
);
await Promise.all(services.map((service) => service.start()));
process.stdout.write("ready\n");
process.on("SIGTERM", () => {
  void Promise.all(services.map((service) => service.shutDownRuns())).finally(() => process.exit());
});
