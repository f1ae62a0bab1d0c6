/**
 * The start of the page docs/operate/kubernetes.md: a cluster, here one whose pods Podman runs, with the images of this
 * checkout, and outside of it PostgreSQL, NATS with users, and an S3 server.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNats, type TestNats } from "@trainyard/bus/testing";
import { Client } from "@trainyard/client";
import type { Podman } from "@trainyard/service-agent/testing/podman";
import { startTestPostgres, type TestPostgres } from "@trainyard/testing";
import { S3Server } from "@trainyard/testing/s3";
import pg from "pg";
import { imageOf } from "../../images/built.ts";
import type { KubeObject } from "../api/object-store.ts";
import { Objects, type Pod } from "../controllers/kinds.ts";
import { isDeleted, isReady } from "../controllers/pod-facts.ts";
import { PodCluster } from "../nodes/index.ts";
import { Page } from "./page.ts";

export const namespace = "trainyard";
const bucket = "models";
/** The page's own. */
const key = { accessKeyId: "ID", secretAccessKey: "SECRET" };
const adminPassword = "SECRET";

/** The ids of pods by the components of the release. */
export type Pods = Readonly<Record<string, string>>;

type Parts = Pick<InstallWorld, "folder" | "page" | "cluster" | "podman" | "s3">;

export class InstallWorld implements AsyncDisposable {
  readonly folder: string;
  readonly page: Page;
  readonly cluster: PodCluster;
  readonly podman: Podman;
  readonly s3: S3Server;
  /** The Roles that were made, as they were. */
  readonly roles: KubeObject[] = [];
  readonly #stack: AsyncDisposableStack;
  readonly #objects: Objects;

  private constructor(stack: AsyncDisposableStack, parts: Parts) {
    this.#stack = stack;
    this.folder = parts.folder;
    this.page = parts.page;
    this.cluster = parts.cluster;
    this.podman = parts.podman;
    this.s3 = parts.s3;
    this.#objects = new Objects(parts.cluster.server.store);
    this.cluster.server.store.watch("roles", ({ type, object }) => {
      if (type === "ADDED" && this.roles.length === 0) this.roles.push(object);
    });
  }

  /** Does what the page does before an install. The storage of Podman has the images, with the tag `test`. */
  static async start(podman: Podman): Promise<InstallWorld> {
    await using stack = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), "ty-install-"));
    stack.defer(() => rmSync(folder, { recursive: true, force: true }));
    const cluster = stack.use(await PodCluster.start({ socket: podman.socket }));
    const page = new Page(folder, cluster.server.kubeconfig);
    await page.works(page.next("kubectl create namespace"));
    await page.works(page.next("npm run -s service -- install nats-users"));
    const nats = stack.use(await natsWithUsers(join(folder, "users.conf"), page));
    const postgres = stack.use(await startTestPostgres());
    await askForPasswords(postgres);
    const s3 = stack.use(await S3Server.start({ buckets: [bucket], users: [key] }));
    const ports = { postgres: postgres.port, nats: nats.port, s3: Number(new URL(s3.url).port) };
    await cluster.node.exposeHostPort("db.example", ports.postgres);
    await cluster.node.exposeHostPort("nats.example", ports.nats);
    await cluster.node.exposeHostPort("s3.example", ports.s3);
    writeFileSync(join(folder, "trainyard.yaml"), JSON.stringify(valuesWith(ports)));
    return new InstallWorld(stack.move(), { folder, page, cluster, podman, s3 });
  }

  /** The faults of the node and of the controllers. */
  get problems(): readonly string[] {
    return [...this.cluster.failures, ...this.cluster.node.problems];
  }

  /** The pods of the release that are ready and not about to end. */
  readyPods(): Pods {
    const ready = this.#objects
      .list("pods", namespace)
      .filter((pod) => isReady(pod) && !isDeleted(pod));
    return Object.fromEntries(ready.map((pod) => [componentOf(pod), pod.metadata.uid ?? ""]));
  }

  newestPod(component: string): string {
    const found = this.#objects
      .list("pods", namespace)
      .filter((pod) => componentOf(pod) === component);
    const created = (pod: Pod): string => pod.metadata.creationTimestamp ?? "";
    const [newest] = found.toSorted((a, b) => created(b).localeCompare(created(a)));
    return newest?.metadata.name ?? "";
  }

  imageOf(deployment: string): string {
    const found = this.#objects.get("deployments", namespace, deployment);
    return found?.spec.template.spec.containers[0]?.image ?? "";
  }

  /** The address of a Service, which this host reaches, too. */
  addressOf(service: string): string {
    return `http://${this.#objects.get("services", namespace, service)?.spec.clusterIP}:8080`;
  }

  client(): Client {
    const { data = {} } = this.#objects.get("secrets", namespace, "ty-keys") ?? {};
    const token = Buffer.from(data["first-token"] ?? "", "base64").toString();
    return new Client({ url: this.addressOf("ty-gateway"), token });
  }

  /** Makes the image of a `migrate` that knows one version of the log more, with the tag `newer`. */
  makeNewerMigrate(): void {
    const folder = join(this.folder, "newer");
    mkdirSync(folder);
    writeFileSync(join(folder, "0002_newer.sql"), "create table log.newer (number integer);\n");
    const place = "/opt/trainyard/libs/event-log/migrations/";
    const lines = [`FROM ${imageOf("migrate")}`, `COPY 0002_newer.sql ${place}`];
    writeFileSync(join(folder, "Containerfile"), lines.join("\n"));
    const name = imageOf("migrate").replace(/:\w+$/, ":newer");
    this.podman.run("build", "--quiet", "--tag", name, folder);
  }

  /**
   * Installs the chart in a namespace of its own, with a Role that lacks a verb, and a Job that tries once. Returns the
   * last words of helm and of the Job.
   */
  async installWithout(verb: string): Promise<{ readonly helm: string; readonly said: string }> {
    const where = `without-${verb}`;
    const { store } = this.cluster.server;
    const ends = [
      store.watch("roles", ({ type, object }) => {
        if (type !== "ADDED" || object.metadata.namespace !== where) return;
        const rules = (object.rules as readonly { readonly verbs: readonly string[] }[]).filter(
          ({ verbs }) => !verbs.includes(verb),
        );
        store.update("roles", { ...object, rules });
      }),
      this.#objects.watch("jobs", (job, type) => {
        if (type !== "ADDED" || job.metadata.namespace !== where) return;
        this.#objects.update("jobs", { ...job, spec: { ...job.spec, backoffLimit: 0 } });
      }),
    ];
    const install = `helm install ty deploy/helm/trainyard -n ${where} --create-namespace -f trainyard.yaml`;
    const { err } = await this.page.run(install);
    for (const end of ends) end();
    const said = await this.page.works(`kubectl logs -n ${where} job/ty-keys --tail 1`);
    return { helm: err, said };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

const componentOf = ({ metadata }: Pod): string =>
  metadata.labels?.["app.kubernetes.io/component"] ?? "";

function valuesWith(ports: {
  readonly postgres: number;
  readonly nats: number;
  readonly s3: number;
}): object {
  return {
    image: { tag: "test", pullPolicy: "Never" },
    postgres: { host: "db.example", port: ports.postgres, adminSecret: { name: "postgres-admin" } },
    nats: { url: `nats://nats.example:${ports.nats}`, existingSecret: "nats-users" },
    storage: {
      blobs: `s3://${bucket}/code`,
      checkpoints: `s3://${bucket}/checkpoints`,
      endpoint: `http://s3.example:${ports.s3}`,
      existingSecret: "bucket",
    },
    agents: { a: { slots: 1 } },
  };
}

/** Starts NATS with the printed users. Their passwords, of any character, go into the secret `nats-users`. */
async function natsWithUsers(file: string, page: Page): Promise<TestNats> {
  const configuration = readFileSync(file, "utf8");
  const users = [...configuration.matchAll(/user: "(.*)"\n\s+password: \$(\w+)\n/g)];
  const passwords = users.map(([, user = "", variable = ""]) => ({
    user,
    variable,
    password: `p@ss/wo:rd%20#?'$x{${user}`,
  }));
  const stringData = Object.fromEntries(passwords.map((one) => [one.user, one.password]));
  const metadata = { name: "nats-users", namespace };
  const secret = { apiVersion: "v1", kind: "Secret", metadata, stringData };
  await page.works(`kubectl create -f - << 'END'\n${JSON.stringify(secret)}\nEND`);
  const environment = passwords.map(
    ({ variable, password }) => [variable, JSON.stringify(password)] as const,
  );
  return startNats({ configuration, environment: Object.fromEntries(environment) });
}

/** Lets nobody in without a password. */
async function askForPasswords(postgres: TestPostgres): Promise<void> {
  const client = new pg.Client({ connectionString: postgres.url() });
  await client.connect();
  await client.query(`alter role postgres password ${pg.escapeLiteral(adminPassword)}`);
  const rule = "host all all 127.0.0.1/32 scram-sha-256\n";
  writeFileSync(join(postgres.data, "pg_hba.conf"), rule);
  await client.query("select pg_reload_conf()");
  await client.end();
}
