/** A whole cluster of a test: the strict API server, the controllers, and a node whose pods Podman runs. */
import { type ApiServer, startApiServer } from "../api/start-server.ts";
import type { PodLogs } from "../api/rest/subresources.ts";
import { startControllers } from "../controllers/index.ts";
import type { NodeTimes } from "./container-life.ts";
import { PodNode } from "./node.ts";
import { PodNetwork } from "./pod-network.ts";

export type PodClusterOptions = {
  /** The socket of Podman's service, whose local images are those of the cluster. */
  readonly socket: string;
  /** The node's waits; those of a real node without it. */
  readonly times?: Partial<NodeTimes>;
  /** The cluster has the Prometheus operator's kind. */
  readonly serviceMonitors?: boolean;
};

export class PodCluster implements AsyncDisposable {
  readonly server: ApiServer;
  readonly node: PodNode;
  /** The failures of controllers, which try again. */
  readonly failures: readonly string[];
  readonly #controllers: Disposable;

  private constructor(
    server: ApiServer,
    node: PodNode,
    controllers: Disposable,
    failures: readonly string[],
  ) {
    this.server = server;
    this.node = node;
    this.#controllers = controllers;
    this.failures = failures;
  }

  static async start({
    socket,
    times = {},
    serviceMonitors = false,
  }: PodClusterOptions): Promise<PodCluster> {
    await using undo = new AsyncDisposableStack();
    const network = await PodNetwork.open();
    undo.defer(async () => await network.close());
    let logs: PodLogs | null = null;
    const server = await startApiServer({
      serviceMonitors,
      serviceAddress: () => network.takeServiceAddress(),
      names: [network.apiServerAddress, "kubernetes.default.svc.cluster.local"],
      logs: {
        read: (...request) => {
          if (logs === null) throw new Error("the node has not started");
          return logs.read(...request);
        },
      },
    });
    undo.defer(async () => await server.close());
    const { store } = server;
    const apiServer = {
      port: server.port,
      tokenFor: (namespace: string, account: string) => server.token(namespace, account),
    };
    const node = await PodNode.start({ store, network, socket, times, apiServer });
    logs = node.logs;
    undo.move();
    const failures: string[] = [];
    const failed = (name: string, error: unknown): void => {
      failures.push(`${name}: ${String(error)}`);
    };
    return new PodCluster(server, node, startControllers({ store, failed }), failures);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#controllers[Symbol.dispose]();
    await this.node[Symbol.asyncDispose]();
    await this.server.close();
  }
}
