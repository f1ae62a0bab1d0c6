/** The settings of each program, as its config.ts reads them. */
import { parseConfig as agent } from "@trainyard/service-agent/config";
import { parseConfig as checkpointGc } from "@trainyard/service-checkpoint-gc/config";
import { parseConfig as experiments } from "@trainyard/service-experiments/config";
import { parseConfig as feeds } from "@trainyard/service-feeds/config";
import { parseConfig as gateway } from "@trainyard/service-gateway/config";
import { parseConfig as logs } from "@trainyard/service-logs/config";
import { parseConfig as metrics } from "@trainyard/service-metrics/config";
import { parseConfig as registry } from "@trainyard/service-registry/config";
import { parseConfig as relay } from "@trainyard/service-relay/config";
import { parseConfig as scheduler } from "@trainyard/service-scheduler/config";
import { parseConfig as searcher } from "@trainyard/service-searcher/config";

type Environment = Readonly<Record<string, string>>;
type Parse = (environment: Environment) => unknown;

export const parsers: ReadonlyMap<string, Parse> = new Map<string, Parse>([
  ["relay", relay],
  ["registry", registry],
  ["metrics", metrics],
  ["logs", logs],
  ["checkpoint-gc", checkpointGc],
  ["scheduler", scheduler],
  ["searcher", searcher],
  ["experiments", experiments],
  ["feeds", feeds],
  ["gateway", gateway],
  ["agents", agent],
]);

/** The settings without which one of the programs does not parse the others. */
const least: Environment = {
  TRAINYARD_POSTGRES_URL: "postgres://db/trainyard",
  TRAINYARD_NATS_URL: "nats://nats",
  TRAINYARD_RUN_TOKEN_KEY: "0".repeat(64),
  TRAINYARD_BLOB_STORAGE: "s3://models/blobs",
  TRAINYARD_CHECKPOINT_DIR: "/tmp/checkpoints",
  TRAINYARD_AGENT_DIR: "/var/lib/trainyard",
  TRAINYARD_API_URL: "http://gateway:8080",
  TRAINYARD_METRICS_URL: "http://metrics:8080",
};

/** Returns the names of all variables that a program looks at. */
export function settingsOf(program: string): ReadonlySet<string> {
  const seen = new Set<string>();
  const watched = new Proxy(least, {
    get(target, name, receiver) {
      if (typeof name === "string") seen.add(name);
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  parsers.get(program)?.(watched);
  return seen;
}
