/**
 * A registry whose log goes back between the declaration of a checkpoint and what follows: its completion is lost, the
 * checkpoint counts as never completed, is abandoned and cleared. The relay, the term of the registry, its commands
 * about the hold and the look at the hold are the real ones; the clearing of checkpoints is a model of the registry's.
 * Processes die at any call to the log, and the relay loses the bus. All chance comes from the seed.
 *
 * No checkpoint whose completion was acknowledged is cleared before a person has released the deletions, and knows of
 * it. In the end, nothing is held any more, and all that was never completed is cleared.
 */
import type { CommandReply } from "@trainyard/bus";
import { createMemoryBus, type MemoryHub } from "@trainyard/bus/testing";
import { decodeEvent } from "@trainyard/contracts";
import type { CommandName, CommandRequestOf } from "@trainyard/contracts/command-services";
import { newEventId } from "@trainyard/event-log";
import { createMemoryLog, type MemoryLog } from "@trainyard/event-log/testing";
import { idOf } from "@trainyard/kernel";
import {
  type CommandContext,
  type DeletionGate,
  DeletionHold,
  EffectLoop,
  encodeRequest,
  type Executor,
  type PartitionDeps,
  recordedHold,
  runtimeLimits,
  serviceMeta,
  type Term,
  type TermContext,
} from "@trainyard/runtime";
import { recordRewind, releaseDeletions } from "@trainyard/service-registry/hold";
import { checkpoints } from "@trainyard/service-registry/streams";
import { ManualClock } from "@trainyard/testing";
import { pino } from "pino";
import { Asking } from "./asking.ts";
import { Chance } from "./chance.ts";
import type { Trouble } from "./mortal-log.ts";
import { type Begin, Process } from "./process.ts";
import { startRelay } from "./relay.ts";
import { Teller } from "./teller.ts";

const steps = 30;
const runMs = 30_000;
const graceMs = 60_000;
const lookMs = 5_000;
/** Longer than a run and the grace together, with the waits of repeated steps. */
const longMs = 300_000;
const logger = pino({ enabled: false });

type State = "declared" | "completed" | "abandoned";
type Found = { readonly state: State; readonly sinceMs: number };
type RequestOf<Name extends CommandName<"registry">> = CommandRequestOf<"registry", Name>;

const states: Readonly<Record<string, State>> = {
  CheckpointDeclared: "declared",
  CheckpointCompleted: "completed",
  CheckpointAbandoned: "abandoned",
};

class HoldWorld {
  readonly #chance: Chance;
  readonly #clock = new ManualClock();
  readonly #hub: MemoryHub = createMemoryBus({ clock: this.#clock });
  readonly #log: MemoryLog = createMemoryLog({ clock: this.#clock });
  readonly #teller = new Teller(this.#log);
  readonly #person = new Asking(this.#hub.connect("gateway"), this.#clock, "registry");
  readonly #looks: boolean;
  readonly #files = new Set<string>();
  /** The checkpoints whose completion a client knows of, in whatever history. */
  readonly #acknowledged = new Set<string>();
  /** The checkpoints that a person gave up at a release, after a look at the list. */
  readonly #givenUp = new Set<string>();
  #restore: () => void = this.#log.store.backup();
  #troubled = true;
  readonly violations: string[] = [];

  constructor(seed: number, looks: boolean) {
    this.#chance = new Chance(seed, "hold");
    this.#looks = looks;
  }

  async run(): Promise<void> {
    const log = this.#log.as("registry");
    const troubles = (): Trouble | null =>
      this.#troubled && this.#chance.happens(0.003) ? { kind: "death" } : null;
    const deps = { clock: this.#clock, log, hub: this.#hub, troubles, restartMs: () => 2_000 };
    const begin: Begin = (parts) => (term) => this.#begin(parts, term);
    new Process("registry", 1, deps, begin).start();
    startRelay(this.#log, this.#hub, this.#clock, { hasRegistry: true });
    for (let step = 1; step <= steps; step += 1) await this.#step(step);
    this.#troubled = false;
    this.#hub.reconnect("relay");
    await this.#pass(longMs);
    await this.#release();
    await this.#pass(longMs);
    await this.#judgeEnd();
  }

  async #begin({ bus, clock }: PartitionDeps, { executor, log }: TermContext): Promise<Term> {
    const hold = new DeletionHold({ name: "registry", log, bus, clock, logger });
    const unfinished = { page: async () => ({ unfinished: [], more: false }) };
    const deps = { executor, log, hold, unfinished };
    const gate: DeletionGate = this.#looks ? hold : { reason: async () => null };
    const clearing = new EffectLoop("unfinished", { clock, logger }, () =>
      this.#clear(executor, gate),
    );
    return {
      reactions: { handlers: {} },
      commands: {
        RecordRewind: (request: RequestOf<"RecordRewind">, context: CommandContext) =>
          recordRewind(deps, request, context),
        ReleaseDeletions: (request: RequestOf<"ReleaseDeletions">, context: CommandContext) =>
          releaseDeletions(deps, request, context),
      },
      loops: [clearing],
    };
  }

  /** One pass of the registry: abandons what was not completed in time, and clears it after a grace. */
  async #clear(executor: Executor, gate: DeletionGate): Promise<number> {
    const nowMs = this.#clock.nowMs();
    const due = [...this.#found()].filter(([id, { state, sinceMs }]) => {
      if (state === "declared") return nowMs >= sinceMs + runMs;
      return state === "abandoned" && this.#files.has(id) && nowMs >= sinceMs + graceMs;
    });
    if (due.length > 0 && (await gate.reason()) !== null) return runtimeLimits.heldLookMs;
    for (const [id, { state }] of due) {
      if (state === "abandoned") this.#remove(id);
      else {
        const identity = { commitId: newEventId(), meta: serviceMeta("registry") };
        await executor.execute(identity, async (work) => {
          await work.decide(checkpoints, id, { kind: "abandon", reason: "" });
        });
      }
    }
    return lookMs;
  }

  #remove(id: string): void {
    this.#files.delete(id);
    if (!this.#acknowledged.has(id) || this.#givenUp.has(id)) return;
    this.violations.push(`${id} was complete, and its files are cleared`);
  }

  /** The checkpoints of the present log. */
  #found(): ReadonlyMap<string, Found> {
    const found = new Map<string, Found>();
    for (const stored of this.#log.store.events) {
      const state = states[decodeEvent(stored).type];
      if (state !== undefined) found.set(idOf(stored.stream), { state, sinceMs: stored.timeMs });
    }
    return found;
  }

  async #step(step: number): Promise<void> {
    const chance = this.#chance;
    if (chance.happens(0.5)) await this.#declare(step);
    if (chance.happens(0.3)) this.#restore = this.#log.store.backup();
    for (const [id, { state }] of this.#found()) {
      // A client forgets what it has completed, and does not offer it again.
      const isOpen = state === "declared" && !this.#acknowledged.has(id);
      if (isOpen && chance.happens(0.5)) await this.#complete(id);
    }
    if (chance.happens(0.2)) this.#hub.disconnect("relay");
    else if (chance.happens(0.4)) this.#hub.reconnect("relay");
    if (chance.happens(0.2)) await this.#goBack();
    if (chance.happens(0.15)) await this.#release();
    await this.#pass(chance.between(10, 40_000));
  }

  async #declare(step: number): Promise<void> {
    const id = `00000000-0000-4000-8000-${String(step).padStart(12, "0")}`;
    this.#files.add(id);
    const storage = { type: "directory", container_path: "/c" };
    const data = { trial: "1.1", run: 1, step, storage, format: "" };
    await this.#teller.tell(`checkpoint-${id}`, [{ type: "CheckpointDeclared", data }]);
  }

  async #complete(id: string): Promise<void> {
    const data = { trial: "1.1", run: 1, step: 1, manifestDigest: "d", files: 1, bytes: 1 };
    const event = { type: "CheckpointCompleted", data } as const;
    if (await this.#teller.tell(`checkpoint-${id}`, [event])) this.#acknowledged.add(id);
  }

  /**
   * Puts the log back. The stream has all of its events, because a loss that no part had heard of has no evidence.
   * Sometimes the log has other events at the lost positions at once.
   */
  async #goBack(): Promise<void> {
    this.#hub.reconnect("relay");
    const isLevel = () => (this.#hub.last?.position ?? 0) === this.#log.store.head;
    while (!isLevel()) await this.#pass(1_000);
    if (this.#chance.happens(0.5)) this.#hub.disconnect("relay");
    this.#restore();
    const grown = this.#chance.happens(0.5) ? this.#chance.between(1, 30) : 0;
    for (let n = 0; n < grown; n += 1) {
      await this.#teller.tell("pool-a", [{ type: "PoolRemoved", data: {} }]);
    }
  }

  /** A person looks at the list, gives up what the log does not know to be complete, and releases the deletions. */
  async #release(): Promise<void> {
    const found = this.#found();
    const lost = [...this.#acknowledged].filter((id) => found.get(id)?.state !== "completed");
    const body = encodeRequest("registry", "ReleaseDeletions", { reason: "" });
    let reply: CommandReply | null = null;
    void this.#person.ask("ReleaseDeletions", body).then((answer) => {
      reply = answer;
      if (answer.kind === "ok") for (const id of lost) this.#givenUp.add(id);
    });
    while (reply === null) await this.#pass(200);
  }

  async #pass(ms: number): Promise<void> {
    const untilMs = this.#clock.monotonicMs() + ms;
    while (await this.#clock.step(untilMs)) await this.#clock.advance(0);
    await this.#clock.advance(untilMs - this.#clock.monotonicMs());
  }

  async #judgeEnd(): Promise<void> {
    const { hold } = await recordedHold(this.#log.as("gateway"));
    if (hold !== null) this.violations.push(`deletions are held in the end: ${hold.detail}`);
    for (const [id, { state }] of this.#found()) {
      if (state === "completed" || !this.#files.has(id)) continue;
      this.violations.push(`${id} is ${state} in the end, and its files are not cleared`);
    }
  }
}

/** Returns the violations in the world of a seed. Without a look at the hold, the clearing is as without ADR 81. */
export async function judgeHoldWorld(seed: number, looks = true): Promise<readonly string[]> {
  const world = new HoldWorld(seed, looks);
  await world.run();
  return [...new Set(world.violations)];
}
