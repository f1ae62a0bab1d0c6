import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Bus } from "@trainyard/bus";
import { type Clock, Fault } from "@trainyard/kernel";
import { systemClock } from "@trainyard/kernel/system-clock";
import {
  createLogger,
  createRegistry,
  type Logger,
  openBus,
  openTracer,
  type Patience,
  type Service,
  serviceOf,
  tracedBus,
  version,
} from "@trainyard/runtime";
import type { AgentConfig } from "./config.ts";
import { NvidiaDevices } from "./devices/nvidia-devices.ts";
import { findOffer, type SlotOffer } from "./devices/slot-offer.ts";
import { VendorProgram } from "./devices/vendor-program.ts";
import { RocmDevices } from "./devices/rocm-devices.ts";
import { hostMetrics } from "./host-metrics.ts";
import { limits } from "./limits.ts";
import { Packages } from "./servers/packages.ts";
import { Screens } from "./screens/screens.ts";
import { Agent, type AgentIdentity } from "./shell/agent.ts";
import { apiPeer } from "./shell/api-peer.ts";
import { CodeArchives } from "./shell/code-archives.ts";
import { openUsers } from "./shell/open-users.ts";
import { runtimeOf } from "./shell/runtime-choice.ts";
import { supervisorsOf } from "./shell/supervisors.ts";
import { beginStart } from "./state/folder-identity.ts";
import { lockFolder } from "./state/folder-lock.ts";
import { layoutVersion, makeFolder, names } from "./state/layout.ts";
import { createTelemetry, type Telemetry } from "./telemetry.ts";

const name = "agent";

/** The caller closes the overrides that it passes. */
export type Overrides = {
  readonly bus?: Bus;
  readonly clock?: Clock;
  readonly logger?: Logger;
  /** The interval between two looks at the devices; only tests set it. */
  readonly deviceLookMs?: number;
  /** The patience of /readyz; only tests set it. */
  readonly patience?: Partial<Patience>;
};

export type AgentService = Service & {
  /** Ends the runs of this host; the service itself continues until it is disposed of. */
  shutDownRuns(): Promise<void>;
};

export async function createService(
  config: AgentConfig,
  overrides: Overrides = {},
): Promise<AgentService> {
  const stack = new AsyncDisposableStack();
  const clock = overrides.clock ?? systemClock;
  const logger = overrides.logger ?? createLogger(name, config.logLevel, { clock });
  const folder = makeFolder(resolve(config.folder));
  stack.use(await lockFolder(folder, clock));
  checkVersion(folder);
  const sdkPath = config.sdkPath === null ? null : sdkFolder(config.sdkPath);
  const registry = createRegistry(name);
  const tracer = await openTracer(name, config.tracing, {
    logger,
    registry,
    clock,
    version,
    stack,
  });
  const opened =
    overrides.bus ??
    stack.use(
      await openBus(config, config.name, logger, { dialWaitLastMs: limits.dialWaitLastMs }),
    );
  const bus = tracer.isOn ? tracedBus(opened, tracer) : opened;
  const events = createTelemetry(registry, logger);
  const { apiUrl, metricsUrl, checkpointDir, checkpointDiskShare, inherited } = config;
  const { tensorBoardBytes } = config;
  const offer = await offerOf(config, clock, events);
  const shared = { agent: config.name, bus, clock, events, tracer };
  const users = await openUsers(config.users, { folder, sdkPath, checkpointDir }, events);
  const contexts = new CodeArchives({ ...shared, folder: join(folder, names.contexts) });
  const start = beginStart(folder, clock.nowMs());
  const runtime = await runtimeOf({ config, folder: start.folder, sdkPath, users, clock, events });
  const runs = makeFolder(join(folder, names.runs));
  const supervisors = stack.use(supervisorsOf(runtime.mechanism, runs, inherited));
  const runsAsRoot =
    runtime.mechanism !== "container" && config.users.range === null && process.getuid?.() === 0;
  if (runsAsRoot) events.runsAsRoot();
  const { mechanism: processGroups, engine } = runtime;
  const runsAre = {
    processGroups,
    ...(engine === undefined ? {} : { engine: engine.kind }),
    ...(runsAsRoot ? { runsAsRoot } : {}),
  };
  const identity = { ...identityOf(config), ...start, ...runsAre };
  const python = { sdkPath, inherited };
  const { deviceLookMs = limits.deviceLookMs } = overrides;
  const urls = {
    apiUrl,
    metricsUrl,
    checkpointDir,
    checkpointDiskShare,
    tensorBoardBytes,
    python,
    work: config.work,
  };
  const packages = stack.use(new Packages(join(folder, names.packages), inherited));
  const screens = stack.use(new Screens(clock, events));
  const deps = {
    ...shared,
    ...urls,
    identity,
    offer,
    deviceLookMs,
    folder,
    contexts,
    supervisors,
    runtime,
    screens,
    packages,
    users,
  };
  const agent = stack.use(new Agent(deps));
  hostMetrics(registry, agent.hostFacts);
  const service = serviceOf(
    { name, stack, bus, logger, registry, clock, tracer, patience: overrides.patience },
    {
      http: config.http,
      started: () => agent.start(),
      unready: () => agent.problem,
      peers: [apiPeer(apiUrl), ...(engine === undefined ? [] : [engine.peer])],
    },
  );
  return { ...service, shutDownRuns: () => agent.shutDown() };
}

function identityOf({
  name,
  pool,
  address,
  labels,
}: AgentConfig): Pick<AgentIdentity, "name" | "pool" | "address" | "version" | "labels"> {
  return { name, pool, address, version, labels };
}

function offerOf(config: AgentConfig, clock: Clock, events: Telemetry): Promise<SlotOffer> {
  const { offer: settings, inherited } = config;
  const program = (name: string): VendorProgram => new VendorProgram(name, { clock, inherited });
  const cuda = new NvidiaDevices(program("nvidia-smi"));
  const rocm = new RocmDevices(program("rocm-smi"));
  return findOffer({ settings, cuda, rocm, events }, new AbortController().signal);
}

/** Throws if the folder has no SDK, since each run would fail at its import. */
function sdkFolder(path: string): string {
  const folder = resolve(path);
  if (existsSync(join(folder, "trainyard", "__init__.py"))) return folder;
  throw new Fault(
    "no_sdk",
    `TRAINYARD_SDK_PATH is ${path}, and there is no Python package trainyard in that folder`,
    { retry: "never" },
  );
}

function checkVersion(folder: string): void {
  const path = join(folder, names.version);
  // A full disk or a power cut may have left an empty file.
  const written = existsSync(path) ? readFileSync(path, "utf8").trim() : "";
  if (written === "") writeFileSync(path, `${layoutVersion}\n`);
  const found = written === "" ? String(layoutVersion) : written;
  if (found === String(layoutVersion)) return;
  throw new Fault(
    "newer_folder",
    `${folder} has layout ${found} and this agent knows ${layoutVersion}: start the newer agent, or give this one another folder`,
    { retry: "never" },
  );
}
