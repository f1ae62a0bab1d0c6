import process from "node:process";
import { parseArgs } from "node:util";
import { Fault } from "@trainyard/kernel";
import { wrongSettings } from "@trainyard/runtime/failed-start";
import { ensureSecret } from "./ensure-secret.ts";
import { kindsOfKeys, newKeys, type KindOfKey } from "./new-keys.ts";
import { secretsInCluster } from "./secrets-api.ts";

type Environment = Readonly<Record<string, string>>;

/**
 * Makes the Secret with the keys that nobody supplies, in the namespace of its pod:
 * keys [--name NAME] [--with KIND,…] [--label KEY=VALUE …]
 */
export async function keys(
  parameters: readonly string[],
  environment: Environment,
): Promise<number> {
  process.stdout.write(`${await makeKeys(parameters, environment)}\n`);
  return 0;
}

/** Returns a sentence about what was done. The service account of the pod is below /var/run of `root`. */
export async function makeKeys(
  parameters: readonly string[],
  environment: Environment,
  root = "",
): Promise<string> {
  const { values } = parseArgs({
    args: [...parameters],
    options: {
      name: { type: "string" },
      with: { type: "string", default: kindsOfKeys.join(",") },
      label: { type: "string", multiple: true, default: [] },
    },
  });
  const name = environment["TRAINYARD_KEYS_SECRET"] ?? values.name ?? "";
  if (name === "") throw wrong("the Secret has no name: set TRAINYARD_KEYS_SECRET or --name");
  const labels = values.label.map(labelOf);
  const secrets = await secretsInCluster(environment, root);
  const wanted = newKeys(kindsOf(values.with));
  return ensureSecret(secrets, { name, labels: Object.fromEntries(labels), wanted });
}

function kindsOf(text: string): readonly KindOfKey[] {
  return text.split(",").map((word) => {
    const kind = kindsOfKeys.find((one) => one === word);
    if (kind !== undefined) return kind;
    throw wrong(`--with has "${word}"; the kinds are ${kindsOfKeys.join(", ")}`);
  });
}

function labelOf(text: string): readonly [string, string] {
  const at = text.indexOf("=");
  if (at < 1) throw wrong(`--label has "${text}", and must be KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}

const wrong = (told: string): Fault => new Fault(wrongSettings, told, { retry: "never" });
