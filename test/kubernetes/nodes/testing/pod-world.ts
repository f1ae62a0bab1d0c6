/** A store with controllers and a node, and a Podman of the test's own with its small image. */
import { Podman, podmanProblem, testImage } from "@trainyard/service-agent/testing/podman";
import { notRun } from "../../../world/torch.ts";
import type { KubeObject } from "../../api/object-store.ts";
import { createObjectStore } from "../../api/store/create-store.ts";
import { startControllers } from "../../controllers/index.ts";
import { type Kinds, Objects, type Plural } from "../../controllers/kinds.ts";
import type { PodSpec } from "../../controllers/pod-kinds.ts";
import { networkProblem, type NodeOptions, PodNode } from "../index.ts";

export { testImage };

/** Skips the test if pods cannot run here. */
export function needPods(skip: (note: string) => never): void {
  const problem = podmanProblem() ?? networkProblem();
  if (problem !== null) notRun(skip, problem);
}

export class PodWorld implements AsyncDisposable {
  readonly objects: Objects;
  readonly node: PodNode;
  /** The failures of controllers. */
  readonly failures: string[];
  readonly #controllers: Disposable;

  private constructor(
    objects: Objects,
    node: PodNode,
    controllers: Disposable,
    failures: string[],
  ) {
    this.objects = objects;
    this.node = node;
    this.#controllers = controllers;
    this.failures = failures;
  }

  static async start(podman: Podman, options: Partial<NodeOptions> = {}): Promise<PodWorld> {
    const store = createObjectStore();
    const failures: string[] = [];
    const failed = (name: string, error: unknown): void => void failures.push(`${name}: ${error}`);
    const controllers = startControllers({ store, caPem: "certificate", failed });
    const times = { backOffMs: 100, retryMs: 50, secondMs: 100 };
    const node = await PodNode.start({ store, socket: podman.socket, times, ...options });
    return new PodWorld(new Objects(store), node, controllers, failures);
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
      const all = [...events, ...this.failures, ...this.node.problems].join("\n");
      found.reject(new Error(`${plural} ${name}: ${JSON.stringify(last?.["status"])}\n${all}`));
    }, ms);
    return await found.promise.finally(() => {
      clearTimeout(timer);
      end();
    });
  }

  /** Resolves when the object is gone. */
  async gone(plural: Plural, name: string): Promise<void> {
    if (this.objects.get(plural, "default", name) === null) return;
    await new Promise<void>((resolve) => {
      const end = this.objects.watch(plural, (object, type) => {
        if (type !== "DELETED" || object.metadata.name !== name) return;
        end();
        resolve();
      });
    });
  }

  async ended(name: string): Promise<Kinds["pods"]> {
    return await this.until("pods", name, ({ status }) =>
      ["Succeeded", "Failed"].includes(status?.phase ?? ""),
    );
  }

  async ready(name: string): Promise<Kinds["pods"]> {
    return await this.until("pods", name, ({ status }) =>
      (status?.conditions ?? []).some(({ type, status: is }) => type === "Ready" && is === "True"),
    );
  }

  async log(name: string, container?: string): Promise<string> {
    let text = "";
    const options = container === undefined ? {} : { container };
    for await (const part of this.node.log("default", name, options)) text += part;
    return text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controllers[Symbol.dispose]();
    await this.node[Symbol.asyncDispose]();
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
