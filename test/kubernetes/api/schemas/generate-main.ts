// Writes api-schema.json: the fields of the served kinds with their types, read from the declarations of the npm
// package kubernetes-models 4.5.0 (Kubernetes 1.33), less what clusters of 1.29 lack. The package has 6,000 files and
// is needed only here, so it is no dependency:
//   npm install --prefix /tmp/models --no-save kubernetes-models@4.5.0
//   node test/kubernetes/api/schemas/generate-main.ts /tmp/models/node_modules
// Forms of types: string, int, bool, quantity, intOrString, time, bytes, any, "a|b" in quotes for an enumeration, @NAME
// for another type, []T and {}T for lists and maps of T; a field that must be there ends in "!".
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { RESOURCES } from "../resources.ts";

const SCALARS: Record<string, string> = {
  "io.k8s.apimachinery.pkg.api.resource.Quantity": "quantity",
  "io.k8s.apimachinery.pkg.util.intstr.IntOrString": "intOrString",
  "io.k8s.apimachinery.pkg.apis.meta.v1.Time": "time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": "time",
  "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1": "any",
  "io.k8s.apimachinery.pkg.runtime.RawExtension": "any",
};

/** Fields that came after 1.29. Source: API references and CHANGELOG pages of 1.30 to 1.33. */
const NEWER: Record<string, readonly string[]> = {
  ContainerStatus: ["allocatedResourcesStatus", "stopSignal", "user", "volumeMounts"],
  DeploymentStatus: ["terminatingReplicas"],
  EndpointHints: ["forNodes"],
  JobSpec: ["managedBy", "successPolicy"],
  LeaseSpec: ["preferredHolder", "strategy"],
  Lifecycle: ["stopSignal"],
  NodeStatus: ["features", "runtimeHandlers"],
  NodeSystemInfo: ["swap"],
  PodCondition: ["observedGeneration"],
  PodResourceClaim: ["resourceClaimName", "resourceClaimTemplateName"],
  PodSecurityContext: ["appArmorProfile", "seLinuxChangePolicy", "supplementalGroupsPolicy"],
  PodSpec: ["resources"],
  PodStatus: ["observedGeneration"],
  ReplicaSetStatus: ["terminatingReplicas"],
  ResourceClaim: ["request"],
  SecurityContext: ["appArmorProfile"],
  ServiceSpec: ["trafficDistribution"],
  Volume: ["image"],
  VolumeMount: ["recursiveReadOnly"],
};

/** The API reference says more of these than the declarations. */
const NAMED: Record<string, string> = {
  "ConfigMap.binaryData": "{}bytes",
  "Secret.data": "{}bytes",
  "StatefulSetSpec.volumeClaimTemplates": "[]@io.k8s.api.core.v1.PersistentVolumeClaim",
};

const FOLDERS: Record<string, string> = {
  "": "v1",
  apps: "apps/v1",
  batch: "batch/v1",
};

const modules = process.argv[2] ?? "";
const models = join(modules, "kubernetes-models");
const types: Record<string, Record<string, string>> = {};

/** "IIoK8sApiCoreV1PodSpec", imported from "../../v1/PodSpec", is io.k8s.api.core.v1.PodSpec. */
const openApiName = (exported: string, path: string): string => {
  const last = path.split("/").at(-1) ?? "";
  const prefix = exported.slice("IIo".length, exported.length - last.length);
  const words = (prefix.match(/[A-Z][a-z0-9]*/g) ?? []).map((word) => word.toLowerCase());
  return `io.${words.join(".")}.${last}`;
};

const read = (name: string, file: string): void => {
  if (types[name]) return;
  const fields: Record<string, string> = {};
  types[name] = fields;
  const text = readFileSync(`${file}.d.ts`, "utf8").replaceAll(/\/\*\*[\s\S]*?\*\//g, "");
  const imports = new Map<string, { name: string; file: string }>();
  for (const [, exported = "", path = ""] of text.matchAll(
    /^import \{ (IIo\w+) \} from "(.*)";$/gm,
  )) {
    const target = path.startsWith(".") ? join(dirname(file), path) : join(modules, path);
    imports.set(exported, { name: openApiName(exported, path), file: target });
  }
  const short = name.split(".").at(-1) ?? "";
  const self = new RegExp(`export \\{ I${short} as (IIo\\w+)`).exec(text)?.[1];
  if (self) imports.set(self, { name, file });
  imports.set(`I${short}`, { name, file });
  const body =
    new RegExp(`export interface I${short}\\b[^{]*\\{([\\s\\S]*?)^\\}`, "m").exec(text)?.[1] ?? "";
  for (const field of body.split(/^ {4}(?=")/m).slice(1)) {
    const [, name = "", optional, type = ""] = /^"([^"]+)"(\?)?: ([\s\S]*);\s*$/.exec(field) ?? [];
    if (NEWER[short]?.includes(name)) continue;
    fields[name] =
      NAMED[`${short}.${name}`] ?? typeOf(type.trim(), imports) + (optional ? "" : "!");
  }
};

const typeOf = (text: string, imports: Map<string, { name: string; file: string }>): string => {
  const list = /^Array<([\s\S]*)>$/.exec(text)?.[1];
  if (list !== undefined) return `[]${typeOf(list.trim(), imports)}`;
  const map = /^\{\s*\[key: string\]: ([\s\S]*?);\s*\}$/.exec(text)?.[1];
  if (map !== undefined) return `{}${typeOf(map.trim(), imports)}`;
  const plain = { string: "string", number: "int", boolean: "bool" }[text];
  if (plain) return plain;
  if (text.startsWith('"')) return `"${text.replaceAll(/"| /g, "")}"`;
  const target = imports.get(text);
  if (!target) return "any";
  const scalar = SCALARS[target.name];
  if (scalar) return scalar;
  read(target.name, target.file);
  return `@${target.name}`;
};

const OPENAPI_GROUPS: Record<string, string> = { "": "core" };
for (const { group, version, kind } of RESOURCES) {
  const folder = FOLDERS[group] ?? `${group}/${version}`;
  const name = `io.k8s.api.${OPENAPI_GROUPS[group] ?? group.split(".")[0]}.${version}.${kind}`;
  read(name, join(models, folder, kind));
}
const meta = (kind: string): void =>
  read(
    `io.k8s.apimachinery.pkg.apis.meta.v1.${kind}`,
    join(modules, "@kubernetes-models/apimachinery/apis/meta/v1", kind),
  );
for (const kind of ["DeleteOptions", "Status"]) meta(kind);
for (const kind of ["Eviction"])
  read(`io.k8s.api.policy.v1.${kind}`, join(models, "policy/v1", kind));
for (const kind of ["Scale"])
  read(`io.k8s.api.autoscaling.v1.${kind}`, join(models, "autoscaling/v1", kind));
for (const kind of ["TokenRequest"]) {
  read(`io.k8s.api.authentication.v1.${kind}`, join(models, "authentication.k8s.io/v1", kind));
}
const sorted = Object.fromEntries(Object.entries(types).sort(([a], [b]) => (a < b ? -1 : 1)));
writeFileSync(join(import.meta.dirname, "api-schema.json"), `${JSON.stringify(sorted, null, 1)}\n`);
