/**
 * Builds launches from the streams of experiments, trials and tasks, and caches them until their allocation has ended.
 */
import type { Plain } from "@trainyard/contracts";
import { codecOf } from "@trainyard/contracts";
import { type Launch, LaunchSchema } from "@trainyard/contracts/agent";
import { isTaskId } from "@trainyard/kernel";
import {
  endsTerm,
  type Executor,
  isTransient,
  type LogIdentity,
  runToken,
  type SigningKey,
  taskSecret,
} from "@trainyard/runtime";
import type { Cluster } from "../core/cluster/cluster.ts";
import type { Guard } from "../core/reconcile/guard.ts";
import { taskLaunchOf } from "../core/launch-task.ts";
import { launchOf } from "../core/launch.ts";
import { experimentCode, taskWork, trialWork } from "../streams.ts";

export type BuiltLaunch = { readonly launch: Plain<Launch>; readonly bytes: number };

type Built = BuiltLaunch | { readonly problem: string } | null;

export class Launches {
  readonly #cluster: Cluster;
  readonly #executor: Executor;
  readonly #key: SigningKey;
  readonly #identity: Pick<LogIdentity, "id">;
  readonly #guard: Guard;
  readonly #taskIdleTimeoutMs: number | undefined;
  readonly #built = new Map<string, BuiltLaunch>();

  constructor(
    cluster: Cluster,
    executor: Executor,
    key: SigningKey,
    identity: Pick<LogIdentity, "id">,
    guard: Guard,
    taskIdleTimeoutMs?: number,
  ) {
    this.#cluster = cluster;
    this.#executor = executor;
    this.#key = key;
    this.#identity = identity;
    this.#guard = guard;
    this.#taskIdleTimeoutMs = taskIdleTimeoutMs;
  }

  /**
   * The launches of some allocations on an agent, without those that are set aside. A launch that can never be built is
   * reported to `onProblem`.
   */
  async of(
    agentId: string,
    ids: readonly string[],
    onProblem: (allocation: string, problem: string) => void,
  ): Promise<ReadonlyMap<string, BuiltLaunch>> {
    const launches = new Map<string, BuiltLaunch>();
    for (const id of ids) {
      const built = this.#built.get(`${agentId}/${id}`) ?? (await this.#guarded(agentId, id));
      if (built === null) continue;
      if ("problem" in built) onProblem(id, built.problem);
      else launches.set(id, built);
    }
    return launches;
  }

  async #guarded(agentId: string, id: string): Promise<Built> {
    if (this.#guard.has("launch", id)) return null;
    try {
      return await this.#build(agentId, id);
    } catch (error) {
      if (endsTerm(error) || isTransient(error)) throw error;
      const pool = this.#cluster.allocations.get(id)?.resources.pool ?? "";
      this.#guard.add("launch", id, pool, error);
      return null;
    }
  }

  async #build(agentId: string, id: string): Promise<Built> {
    const allocation = this.#cluster.allocations.get(id);
    const agent = this.#cluster.agents.get(agentId);
    if (allocation?.grant == null || agent === undefined) return null;
    const { cache } = this.#executor;
    const { position: grantPosition, eventId: grantId } = allocation.grant;
    const token = runToken(this.#key, { allocation: id, grantPosition, grantId });
    const log = await this.#identity.id();
    const launch = isTaskId(allocation.task)
      ? taskLaunchOf(allocation, agent, {
          task: (await cache.load(taskWork, allocation.task)).state,
          token,
          secret: taskSecret(this.#key.secret, id),
          idle: {
            poolMs: this.#cluster.pool(allocation.resources.pool).settings.idleTimeoutMs,
            clusterMs: this.#taskIdleTimeoutMs,
          },
          log,
        })
      : launchOf(allocation, agent, {
          trial: (await cache.load(trialWork, allocation.task)).state,
          experiment: (await cache.load(experimentCode, allocation.job)).state,
          token,
          log,
        });
    if ("problem" in launch) return launch;
    const bytes = Buffer.byteLength(codecOf<Plain<Launch>>(LaunchSchema).encode(launch));
    const built = { launch, bytes };
    this.#built.set(`${agentId}/${id}`, built);
    return built;
  }

  /** Evicts the launches of started and ended allocations. */
  prune(): void {
    for (const [key, { launch }] of this.#built) {
      const allocation = this.#cluster.allocations.get(launch.allocation);
      if (allocation === undefined || allocation.started) this.#built.delete(key);
    }
  }
}
