/**
 * The supervisor's work: brings a cluster up step by step, keeps it, and takes it down.
 *
 *   starting ──all serve──► ready ──down──► stopping
 *       └──a step failed──► failed ──down──► stopping
 *
 * A failure before the database and NATS serve ends the processes that this start began, since no service could work.
 * After that all processes stay up even when one of them is not ready, so that trials keep running.
 */
import { rmSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { version } from "@trainyard/runtime/version";
import { prepareDatabase } from "@trainyard/migrate";
import { ClusterError, errorText } from "../cluster-error.ts";
import { type ClusterInfo, writeClusterFile } from "../cluster-info.ts";
import type { SupervisorPhase, SupervisorStatus } from "../control.ts";
import { grpcPortOf, host, localUrl, servesGrpc } from "./environment.ts";
import { checkout, type Home, logOf } from "../home/home.ts";
import { type Infrastructure, prepareInfrastructure } from "./infrastructure.ts";
import { limits } from "../limits.ts";
import type { ClusterOptions } from "../options.ts";
import { agentEntries, allInOne, planProcesses } from "./plans.ts";
import { ensurePorts, type Ports, type PortWish } from "./ports.ts";
import { adminRole, postgresUrl } from "../servers/postgres.ts";
import type { Lock } from "../processes/lock.ts";
import { endRuns } from "../processes/runs.ts";
import type { ServiceEntry } from "./services.ts";
import { watchFeedUsers } from "../servers/feed-users.ts";
import { Supervisor } from "./supervisor.ts";
import type { SupervisorLog } from "./log.ts";
import { buildWeb, webBuild } from "../web/build.ts";

/** The preferred port of the API and the Web UI. */
const apiPortPreferred = 8080;

type Services = {
  readonly services: readonly ServiceEntry[];
  readonly agentMain: string;
};

type Parts = {
  readonly infrastructure: Infrastructure;
  readonly ports: Ports;
  readonly supervisor: Supervisor;
};

function portWishes(
  services: readonly ServiceEntry[],
  agents: readonly string[],
): readonly PortWish[] {
  const names = services.map((one) => one.name);
  const withGrpc = names.filter((name) => servesGrpc.has(name)).map(grpcPortOf);
  return ["postgres", "nats", ...names, ...agents, ...withGrpc].map((name) =>
    name === "gateway" ? { name, preferred: apiPortPreferred } : { name },
  );
}

export class RunningCluster {
  readonly #home: Home;
  readonly #options: ClusterOptions;
  readonly #log: SupervisorLog;
  readonly #lock: Lock;
  readonly #stopping = new AbortController();
  #phase: SupervisorPhase = "starting";
  #step = "preparing the database and NATS";
  #failure: string | null = null;
  #services: readonly ServiceEntry[] = [];
  #parts: Parts | null = null;
  #coming: Promise<void> = Promise.resolve();
  #building: Promise<void> = Promise.resolve();
  /** The reason why the Web UI is missing; null when it is served, or was not asked for. */
  #webProblem: string | null = null;

  constructor(home: Home, options: ClusterOptions, lock: Lock, log: SupervisorLog) {
    this.#home = home;
    this.#options = options;
    this.#log = log;
    this.#lock = lock;
  }

  get status(): SupervisorStatus {
    return {
      phase: this.#phase,
      step: this.#step,
      failure: this.#failure,
      cluster: this.#info(),
    };
  }

  /** Resolves once all processes serve, or a person has to act; rejects when no process could be started. */
  up(): Promise<void> {
    this.#coming = this.#up();
    return this.#coming;
  }

  async #up(): Promise<void> {
    const { services, agentMain } = await this.#table();
    this.#services = services;
    const agents = agentEntries(this.#options.agents, this.#options.slots);
    this.#next("preparing the database and NATS");
    const { infrastructure, supervisor, ports } = await this.#startInfrastructure(
      services,
      agents.map((one) => one.name),
    );
    if (this.#stopping.signal.aborted) return;
    const { secrets } = infrastructure;
    const webDir = this.#startWebBuild();
    this.#next("bringing the database up to date");
    await prepareDatabase({
      adminUrl: postgresUrl(ports["postgres"] ?? 0, adminRole, secrets.postgresAdminPassword),
      services: services.map((one) => one.name),
      passwords: secrets.postgresPasswords,
    });
    if (this.#stopping.signal.aborted) return;
    this.#next("starting the services and agents");
    const plans = planProcesses({
      home: this.#home,
      secrets,
      ports,
      services,
      agents,
      agentMain,
      separate: this.#options.processes,
      webDir,
    });
    for (const plan of plans) supervisor.keep(plan);
    await this.#becomeReady(supervisor);
  }

  /**
   * Starts the build beside the cluster's start, which does not wait for it: the gateway serves the folder once it
   * exists.
   */
  #startWebBuild(): string | null {
    const isNamed = process.env["TRAINYARD_WEB_DIR"] !== undefined;
    const build = this.#options.web && !isNamed ? webBuild(checkout) : null;
    if (build === null) return null;
    const built = buildWeb(build, logOf(this.#home, "web-build"), this.#stopping.signal);
    this.#building = built.catch((error: unknown) => {
      if (this.#stopping.signal.aborted) return;
      this.#webProblem = errorText(error);
      this.#log("warn", this.#webProblem);
      this.#writeInfo();
    });
    return build.folder;
  }

  async restart(name: string): Promise<void> {
    const { supervisor } = this.#parts ?? {};
    if (supervisor === undefined || this.#phase === "stopping") {
      throw new ClusterError("not_up", "The cluster is not up yet: try again when it is.");
    }
    if (!this.#options.processes && this.#services.some((one) => one.name === name)) {
      throw new ClusterError(
        "not_separate",
        `${name} runs in one process with the other services: restart that one ("yard cluster restart ${allInOne}"), or start the cluster with --processes.`,
      );
    }
    await supervisor.restart(name);
  }

  async down(): Promise<void> {
    this.#phase = "stopping";
    this.#next("stopping");
    this.#stopping.abort();
    // The start stops at its next step; its failure is ignored, since the cluster goes down.
    await this.#coming.catch(() => {});
    await this.#building;
    await this.#parts?.supervisor.stop();
    // A dead agent has ended none.
    await endRuns(this.#home);
    rmSync(this.#home.clusterFile, { force: true });
  }

  /** Called after `up` rejected: ends only the processes that this start began. */
  async giveUp(error: unknown): Promise<void> {
    this.#phase = "failed";
    this.#failure = errorText(error);
    await this.#parts?.supervisor.stop();
    rmSync(this.#home.clusterFile, { force: true });
  }

  async #table(): Promise<Services> {
    const named = this.#options.servicesModule;
    if (named === null) return import("./services.ts");
    return (await import(pathToFileURL(named).href)) as Services;
  }

  async #startInfrastructure(
    services: readonly ServiceEntry[],
    agents: readonly string[],
  ): Promise<Parts> {
    const prepared = await prepareInfrastructure(this.#home, services, agents);
    const { ports } = await ensurePorts(this.#home, portWishes(services, agents));
    const supervisor = new Supervisor(
      {
        lock: this.#lock,
        restart: this.#options.restart,
        onChange: (one, event, fields) => {
          this.#log("info", event, { process: one.plan.name, state: one.state, ...fields });
          this.#recover();
          this.#writeInfo();
        },
      },
      logOf(this.#home, "supervisor"),
    );
    const parts = { infrastructure: prepared, ports, supervisor };
    this.#parts = parts;
    this.#next("starting PostgreSQL and NATS");
    for (const plan of prepared.plans(ports)) supervisor.keep(plan);
    await supervisor.ready(limits.infrastructureReadyMs, this.#stopping.signal);
    const reload = (): void => this.#reloadNats(parts);
    watchFeedUsers(this.#home.feedUsersFile, reload, this.#stopping.signal);
    return parts;
  }

  /** Gives NATS the present users of subscriptions. */
  #reloadNats({ infrastructure, ports, supervisor }: Parts): void {
    const pid = supervisor.processes.find(({ name }) => name === "nats")?.pid ?? null;
    try {
      infrastructure.writeNatsConfiguration(ports);
      if (pid !== null) process.kill(pid, "SIGHUP");
    } catch (error) {
      this.#log("warn", "the users of NATS could not be changed", { reason: errorText(error) });
    }
  }

  async #becomeReady(supervisor: Supervisor): Promise<void> {
    try {
      await supervisor.ready(limits.servicesReadyMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) return;
      this.#phase = "ready";
      this.#next("running");
    } catch (error) {
      this.#phase = "failed";
      this.#failure = errorText(error);
      this.#log("error", "the cluster is not ready", { reason: this.#failure });
    }
  }

  /** Clears the failure when all services serve after all, for example after a slow start or a person's repair. */
  #recover(): void {
    if (this.#phase !== "failed" || this.#parts?.supervisor.serves !== true) return;
    this.#phase = "ready";
    this.#failure = null;
    this.#next("running");
  }

  #next(step: string): void {
    this.#step = step;
    this.#log("info", step, { phase: this.#phase });
    this.#writeInfo();
  }

  #writeInfo(): void {
    const info = this.#info();
    if (info === null) return;
    try {
      writeClusterFile(this.#home, info);
    } catch (error) {
      // On a full disk the file keeps its old state. The cluster must not end for it.
      this.#log("warn", "cluster.json could not be written", { reason: errorText(error) });
    }
  }

  #info(): ClusterInfo | null {
    if (this.#parts === null) return null;
    const { infrastructure, ports, supervisor } = this.#parts;
    const self = {
      name: "supervisor",
      kind: "supervisor",
      pid: process.pid,
      state: this.#phase === "stopping" ? "stopping" : "running",
      log: logOf(this.#home, "supervisor"),
    } as const;
    const password = infrastructure.secrets.postgresAdminPassword;
    return {
      version,
      api: localUrl(ports["gateway"]),
      grpc: `${host}:${ports[grpcPortOf("gateway")] ?? 0}`,
      metricsGrpc: `${host}:${ports[grpcPortOf("metrics")] ?? 0}`,
      natsUrl: `nats://${host}:${ports["nats"] ?? 0}`,
      postgresUrl: postgresUrl(ports["postgres"] ?? 0, adminRole, password),
      tokenFile: this.#home.tokenFile,
      home: this.#home.path,
      processes: [self, ...supervisor.processes],
      notes: [...infrastructure.notes, ...(this.#webProblem === null ? [] : [this.#webProblem])],
    };
  }
}
