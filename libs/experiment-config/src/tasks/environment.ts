/** The environment of a task: that of an experiment, and ports with an effect. */
import { isMapping, type Json, keyPath, valueAt, without } from "../json.ts";
import type { Check, Part } from "../parts/part.ts";
import type { Values } from "../parts/values.ts";
import { environment, proxyPorts } from "../sections/environment.ts";
import type { SectionModule } from "../sections/module.ts";

const PORT_MAX = 65_535;

const checkPorts: Check = (ports, path, note) => {
  const seen = new Map<Json, string>();
  for (const [index, entry] of Array.isArray(ports) ? ports.entries() : []) {
    const port = isMapping(entry) ? valueAt(entry, "proxy_port") : undefined;
    if (typeof port !== "number") continue;
    const at = keyPath(`${path}[${index}]`, "proxy_port");
    const before = seen.get(port);
    if (before !== undefined) note(at, `is ${port}, as ${before} is: declare each port once`);
    else if (port > PORT_MAX) note(at, `must be at most ${PORT_MAX}, not ${port}`);
    else seen.set(port, at);
  }
};

function ports(values: Values): Part {
  const part = proxyPorts(values);
  return {
    ...part,
    schema: part.schema.describe(
      "Ports of the task that its users reach, each with proxy_port, and proxy_tcp unless it speaks HTTP.",
    ),
    check: checkPorts,
  };
}

const { proxy_ports: _, ...asWritten } = environment.asWritten;

export const taskEnvironment = {
  ...environment,
  description: "Variables, the container image, and the served ports of the task.",
  parts: (values) => ({ ...environment.parts(values), proxy_ports: ports(values) }),
  asWritten,
  defaults: without(environment.defaults, Object.keys(environment.asWritten)),
} satisfies SectionModule;

/** Keys of an entry of `proxy_ports` that change nothing here, each with the warning about it. */
export const portKeysWithoutEffect: Readonly<Record<string, string>> = {
  unauthenticated: "has no effect: every caller of a port is asked for a token or a session",
  default_service_id: "has no effect: the address of each port has its number",
};
