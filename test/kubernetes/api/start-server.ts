// A Kubernetes API server for tests: strict where a real one is, on a free port of 127.0.0.1, with a certificate of its
// own and a kubeconfig of an administrator. It stores objects and starts nothing: controllers and nodes do, on its
// store. ADR 127 says what it is judged by and what it is not.
import { createServer } from "node:https";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GarbageCollector } from "./collect/garbage.ts";
import { NamespaceController } from "./collect/namespaces.ts";
import type { ObjectStore } from "./object-store.ts";
import { Tokens, type User } from "./rbac/authenticate.ts";
import { Authorizer } from "./rbac/authorize.ts";
import { createDefaultRoles } from "./rbac/bootstrap.ts";
import type { AuditEvent } from "./rest/dispatch.ts";
import type { PodLogs } from "./rest/subresources.ts";
import { serve } from "./rest/serve.ts";
import { createObjectStore, type StoreOptions } from "./store/create-store.ts";
import type { MemoryStore } from "./store/memory-store.ts";
import { createCertificate } from "./tls/certificate.ts";

export type ApiServerOptions = StoreOptions & {
  /** Lines of containers, for `kubectl logs`. */
  logs?: PodLogs;
  /** Further names and addresses by which pods reach the server, for its certificate. */
  names?: readonly string[];
  /** The address to listen on; 127.0.0.1 unless pods of another network must reach it. */
  host?: string;
};

export type ApiServer = {
  url: string;
  port: number;
  /** The file of an administrator. */
  kubeconfig: string;
  certificate: string;
  store: ObjectStore & MemoryStore;
  /** A file for another user: a service account by its namespace and name, or a user with groups. */
  kubeconfigFor(who: { namespace: string; serviceAccount: string } | User): Promise<string>;
  /** Requests with their users, and whether they were allowed: these are the verbs that a role needs. */
  audit: readonly AuditEvent[];
  /** A token of a service account, as a pod has it mounted. */
  token(namespace: string, serviceAccount: string): string;
  close(): Promise<void>;
};

const POD_TOKEN_SECONDS = 3607;

export const startApiServer = async (options: ApiServerOptions = {}): Promise<ApiServer> => {
  const { certificate, key } = createCertificate([
    "127.0.0.1",
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    ...(options.names ?? []),
  ]);
  const store = createObjectStore(options);
  createDefaultRoles(store);
  const tokens = new Tokens(store);
  const controllers = [new NamespaceController(store, certificate), new GarbageCollector(store)];
  const issueToken = (namespace: string, name: string, seconds: number): string =>
    tokens.issue(namespace, name, seconds);
  const audit: AuditEvent[] = [];
  const services = {
    audit,
    store,
    authorizer: new Authorizer(store),
    issueToken,
    logs: options.logs,
    tokens,
  };
  const server = createServer(
    { cert: certificate, key },
    (request: IncomingMessage, response: ServerResponse) => {
      void serve(services, request, response);
    },
  );
  // Watches are open for long, and clients keep connections.
  server.requestTimeout = 0;
  const host = options.host ?? "127.0.0.1";
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const url = `https://127.0.0.1:${port}`;
  const folder = await mkdtemp(join(tmpdir(), "trainyard-kubernetes-"));
  const write = kubeconfigWriter(folder, url, certificate);
  return {
    url,
    port,
    certificate,
    audit,
    store,
    kubeconfig: await write("kubernetes-admin", tokens.admin),
    token: (namespace, name) => tokens.issue(namespace, name, POD_TOKEN_SECONDS),
    kubeconfigFor: (who) => {
      if (!("serviceAccount" in who)) return write(who.name, tokens.add(who));
      const { namespace, serviceAccount } = who;
      return write(serviceAccount, tokens.issue(namespace, serviceAccount, POD_TOKEN_SECONDS));
    },
    close: async () => {
      for (const controller of controllers) controller.close();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
      await rm(folder, { recursive: true, force: true });
    },
  };
};

/** Each file has one user, and can be read by this process's user alone. */
const kubeconfigWriter = (folder: string, url: string, certificate: string) => {
  let files = 0;
  return async (user: string, token: string): Promise<string> => {
    files += 1;
    const file = join(folder, `kubeconfig-${files}.json`);
    const config = kubeconfigOf(url, certificate, user, token);
    await writeFile(file, JSON.stringify(config), { mode: 0o600 });
    return file;
  };
};

const kubeconfigOf = (url: string, certificate: string, user: string, token: string): object => ({
  apiVersion: "v1",
  kind: "Config",
  clusters: [
    {
      name: "test",
      cluster: {
        server: url,
        "certificate-authority-data": Buffer.from(certificate).toString("base64"),
      },
    },
  ],
  users: [{ name: user, user: { token } }],
  contexts: [{ name: "test", context: { cluster: "test", user } }],
  "current-context": "test",
});
