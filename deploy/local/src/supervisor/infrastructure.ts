/** The infrastructure of the services: secrets, the database server and NATS, made ready to be started. */
import { join } from "node:path";
import { busPrincipals, busUserOf, natsServerBinary } from "@trainyard/bus/server";
import type { ServiceName } from "@trainyard/kernel/services";
import { roleNames } from "@trainyard/migrate";
import { checkout, type Home, logOf } from "../home/home.ts";
import { limits } from "../limits.ts";
import {
  natsCommand,
  natsConfiguration,
  natsProblem,
  writeNatsConfiguration,
} from "../servers/nats.ts";
import type { Ports } from "./ports.ts";
import {
  adminRole,
  initialisePostgres,
  postgresCommand,
  postgresProblem,
  postgresUrl,
} from "../servers/postgres.ts";
import { packagedPostgres } from "../servers/postgres-binaries.ts";
import { databaseFolder, type PostgresPlace, preparePlace } from "../servers/postgres-place.ts";
import { endsWithInput } from "../processes/ends-with-input.ts";
import type { ProcessPlan } from "../processes/process-plan.ts";
import { ensureApiToken, ensureSecrets, type Secrets } from "../home/secrets.ts";
import type { ServiceEntry } from "./services.ts";

export type Infrastructure = {
  readonly secrets: Secrets;
  /** Sentences for the status page. */
  readonly notes: readonly string[];
  /** The plans of PostgreSQL and NATS, with their ports. */
  readonly plans: (ports: Ports) => readonly ProcessPlan[];
  /** Writes the configuration of NATS with the present users of subscriptions. */
  readonly writeNatsConfiguration: (ports: Ports) => void;
};

export async function prepareInfrastructure(
  home: Home,
  services: readonly ServiceEntry[],
  agents: readonly string[],
): Promise<Infrastructure> {
  const names = services.map((service) => service.name);
  const principals = busPrincipals({ services: names as readonly ServiceName[], agents });
  const secrets = ensureSecrets(
    home,
    { postgresRoles: roleNames(names), natsUsers: principals.map(busUserOf) },
    databaseFolder(home),
  );
  ensureApiToken(home);
  const place = preparePlace(home, secrets.clusterId, packagedPostgres());
  const [binary] = await Promise.all([
    natsServerBinary({ cacheDir: join(checkout, ".cache"), env: process.env }),
    initialisePostgres(place, secrets.postgresAdminPassword),
  ]);
  const configured = (ports: Ports): string =>
    natsConfiguration(home, ports["nats"] ?? 0, principals, secrets.natsPasswords);
  return {
    secrets,
    notes: place.note === null ? [] : [place.note],
    plans: (ports) => [
      planPostgres(home, place, secrets, ports["postgres"] ?? 0),
      planNats(home, binary, () => configured(ports), ports["nats"] ?? 0),
    ],
    writeNatsConfiguration: (ports) => {
      writeNatsConfiguration(home, configured(ports));
    },
  };
}

function planPostgres(
  home: Home,
  place: PostgresPlace,
  secrets: Secrets,
  port: number,
): ProcessPlan {
  const url = postgresUrl(port, adminRole, secrets.postgresAdminPassword, "postgres");
  return {
    name: "postgres",
    kind: "postgres",
    log: logOf(home, "postgres"),
    command: () => endsWithInput(postgresCommand(place, port), "INT", limits.stopPostgresMs),
    // The fast shutdown: clients are disconnected and the data is left clean.
    stopSignal: "SIGINT",
    stopLimitMs: limits.stopPostgresMs,
    problem: () => postgresProblem(url),
  };
}

function planNats(
  home: Home,
  binary: string,
  configuration: () => string,
  port: number,
): ProcessPlan {
  return {
    name: "nats",
    kind: "nats",
    log: logOf(home, "nats"),
    command: () =>
      endsWithInput(natsCommand(home, binary, configuration()), "TERM", limits.stopNatsMs),
    stopSignal: "SIGTERM",
    stopLimitMs: limits.stopNatsMs,
    problem: () => natsProblem(port),
  };
}
