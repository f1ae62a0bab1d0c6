/** A store with controllers and a node, and a Podman of the test's own with its small image. */
import { setTimeout as after } from "node:timers/promises";
import { Podman, testImage } from "@trainyard/service-agent/testing/podman";
import { notRun } from "@trainyard/testing/needs";
import { afterAll, beforeAll, expect } from "vitest";
import type { KubeObject } from "../../api/object-store.ts";
import { type Kinds, Objects, type Plural } from "../../controllers/kinds.ts";
import { isReady } from "../../controllers/pod-facts.ts";
import type { PodSpec } from "../../controllers/pod-kinds.ts";
import { PodCluster, podsProblem } from "../index.ts";

export { testImage };

/** A cluster for all tests of a file, which has to be left without faults and containers. */
export function sharedWorld(): (skip: (note: string) => never) => PodWorld {
  let podman: Podman | null = null;
  let opened: PodWorld | null = null;
  let problem: string | null = null;
  beforeAll(async () => {
    problem = podsProblem();
    if (problem !== null) return;
    podman = await Podman.start();
    opened = await PodWorld.start(podman);
  });
  afterAll(async () => {
    await opened?.[Symbol.asyncDispose]();
    expect(podman?.containers() ?? []).toEqual([]);
    await podman?.[Symbol.asyncDispose]();
    expect(opened?.problems ?? []).toEqual([]);
  });
  return (skip) => {
    if (problem !== null) return notRun(skip, problem);
    if (opened === null) throw new Error("the node did not start");
    return opened;
  };
}

export class PodWorld implements AsyncDisposable {
  readonly objects: Objects;
  readonly cluster: PodCluster;

  readonly podman: Podman;

  private constructor(cluster: PodCluster, podman: Podman) {
    this.cluster = cluster;
    this.podman = podman;
    this.objects = new Objects(cluster.server.store);
  }

  static async start(podman: Podman): Promise<PodWorld> {
    const times = { backOffMs: 100, retryMs: 50, secondMs: 100 };
    return new PodWorld(await PodCluster.start({ socket: podman.socket, times }), podman);
  }

  get node(): PodCluster["node"] {
    return this.cluster.node;
  }

  /** The faults of the node and of controllers. */
  get problems(): readonly string[] {
    return [...this.cluster.failures, ...this.node.problems];
  }

  pod(name: string, spec: PodSpec, metadata: Partial<KubeObject["metadata"]> = {}): Kinds["pods"] {
    return this.objects.create("pods", {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name, namespace: "default", ...metadata },
      spec,
    });
  }

  /** Resolves when the object is as asked for. Rejects after the time, with the object's status. */
  async until<P extends Plural>(
    plural: P,
    name: string,
    holds: (object: Kinds[P]) => boolean,
    ms = 30_000,
  ): Promise<Kinds[P]> {
    const namespace = plural === "nodes" || plural === "namespaces" ? null : "default";
    const now = this.objects.get(plural, namespace, name);
    if (now !== null && holds(now)) return now;
    const found = Promise.withResolvers<Kinds[P]>();
    const end = this.objects.watch(plural, (object, type) => {
      if (object.metadata.name === name && type !== "DELETED" && holds(object))
        found.resolve(object);
    });
    const timer = setTimeout(() => {
      const last = this.objects.get(plural, namespace, name);
      const events = this.objects
        .list("events")
        .map(({ reason, message }) => `${reason}: ${message}`);
      const all = [...events, ...this.problems].join("\n");
      found.reject(new Error(`${plural} ${name}: ${JSON.stringify(last?.["status"])}\n${all}`));
    }, ms);
    return await found.promise.finally(() => {
      clearTimeout(timer);
      end();
    });
  }

  /** Resolves when the object is gone. */
  async gone(plural: Plural, name: string): Promise<void> {
    const gone = Promise.withResolvers<void>();
    const end = this.objects.watch(plural, (object, type) => {
      if (type === "DELETED" && object.metadata.name === name) gone.resolve();
    });
    if (this.objects.get(plural, "default", name) === null) gone.resolve();
    const timer = setTimeout(
      () => gone.reject(new Error(`${plural} ${name} is still there`)),
      30_000,
    );
    await gone.promise.finally(() => {
      clearTimeout(timer);
      end();
    });
  }

  /** Returns the first line of a container's log, as soon as it has one. */
  async said(name: string): Promise<string> {
    const signal = AbortSignal.timeout(30_000);
    while (!signal.aborted) {
      for await (const line of this.lines(name)) return String(line);
      await after(20);
    }
    throw new Error(`${name} has said nothing`);
  }

  async ended(name: string): Promise<Kinds["pods"]> {
    return await this.until("pods", name, ({ status }) =>
      ["Succeeded", "Failed"].includes(status?.phase ?? ""),
    );
  }

  async ready(name: string): Promise<Kinds["pods"]> {
    return await this.until("pods", name, isReady);
  }

  async log(name: string, more: { previous?: boolean; follow?: boolean } = {}): Promise<string> {
    let text = "";
    for await (const part of this.lines(name, more)) text += part;
    return text;
  }

  lines(
    name: string,
    more: { previous?: boolean; follow?: boolean } = {},
  ): AsyncIterable<string | Uint8Array> {
    const pod = this.objects.get("pods", "default", name);
    if (pod === null) throw new Error(`no pod ${name}`);
    const options = { follow: false, tailLines: null, timestamps: false, previous: false, ...more };
    return this.node.logs.read(pod, "main", options, AbortSignal.timeout(30_000));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cluster[Symbol.asyncDispose]();
  }
}

/** A container of the test's image that runs these lines of a shell. */
export function shell(script: string, more: object = {}) {
  return { name: "main", image: testImage, command: ["sh", "-c", script], ...more };
}

/** A web server on port 8080 that answers with its pod's host name. */
export const server = `exec python3 -c '
import http.server, os, signal, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(os.uname().nodename.encode())
    def log_message(self, *args): pass
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
http.server.ThreadingHTTPServer(("", 8080), Handler).serve_forever()
'`;
