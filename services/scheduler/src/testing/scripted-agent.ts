/**
 * A fake agent that follows only the protocol by itself: it answers every list with a report, ignores stale lists,
 * starts the wanted allocations, and kills those to be killed.
 */
import { agentDoSubject, agentReportSubject, type Bus } from "@trainyard/bus";
import { codecOf, type Plain } from "@trainyard/contracts";
import type { UndeliveredCheckpoints } from "@trainyard/contracts/events";
import {
  type AllocationReport,
  AllocationReportState,
  type Launch,
  type Report,
  ReportSchema,
  type RequestedRun,
  runKeyOf,
  type Spoken,
  spokenProtocol,
  type Wanted,
  WantedSchema,
  WantedState,
} from "@trainyard/contracts/agent";
import type { Exit, Slot } from "@trainyard/contracts/events";
import { agentStart } from "./examples.ts";

type Held = Plain<AllocationReport>;

const reports = codecOf<Plain<Report>>(ReportSchema);
const wanteds = codecOf<Plain<Wanted>>(WantedSchema);

export class ScriptedAgent {
  readonly name: string;
  readonly #bus: Bus;
  #slots: readonly Plain<Slot>[] = [];
  #incarnation = 1;
  #sequence = 0;
  #epoch = 0;
  #version = 0;
  #pid = 100;
  #onLaunch: () => void = () => {};
  address: string;
  pool = "default";
  labels: Readonly<Record<string, string>> = {};
  /** While true, the agent neither receives nor sends messages. */
  silent = false;
  /** Launched processes stay in preparation until `up`. */
  slowStart = false;
  /** While true, the agent ignores kills. */
  stubborn = false;
  /** True if its runs do not use the SDK, so that they get SIGTERM at a stop. */
  sendsSigterm = false;
  /** While true, the agent reports but processes no list, as with a full disk. */
  deaf = false;
  /** The reason with which every launch on this agent fails; null for none. */
  failing: string | null = null;
  /** True if the launch fails because the host lacks something for its configuration. */
  lacking = false;
  /** True if waiting does not bring it to the host. */
  lasting = false;
  diskFreeBytes = 1e12;
  notices: readonly string[] = [];
  /** The checkpoints that its ended runs have left; undefined for none. */
  undelivered: Plain<UndeliveredCheckpoints> | undefined;
  /** The versions of the protocol that it sends. */
  spoken: Spoken = spokenProtocol;
  /** The agent's folder and start in its reports. */
  identity: { readonly folder: string; readonly place: string; readonly startedMs: number };
  /** The reason why the agent does not hold its name. */
  nameTaken: string | null = null;
  /** The highest epoch, as saved in the agent's folder. */
  highestEpoch = 0;
  /** The number of parts of its reports, and the part that never arrives. */
  parts = 1;
  lostPart = 0;
  /** By the allocation's id; a run of a lost history beside a new run of its id by a key with its request. */
  readonly held = new Map<string, Held>();
  readonly launched: Plain<Launch>[] = [];
  readonly heard: Plain<Wanted>[] = [];
  /** Slots that two live processes had at once. */
  readonly violations: string[] = [];

  constructor(name: string, bus: Bus, slots: number) {
    this.name = name;
    this.#bus = bus;
    this.address = `host-${name}`;
    this.identity = { folder: `folder-${name}`, place: `place-${name}`, startedMs: 1_000 };
    this.offer(slots);
  }

  /** Changes the offer from the next report on. */
  offer(slots: number): void {
    const ids = Array.from({ length: slots }, (_, n) => String(n));
    this.offerSlots(ids.map((id) => ({ id, device: "cpu", uuid: "", memoryBytes: 0 })));
  }

  /** Offers these slots, of any kind, from the next report on. */
  offerSlots(slots: readonly Plain<Slot>[]): void {
    this.#slots = slots;
  }

  /** Runs an allocation that the scheduler did not request, as of a lost history. */
  occupy(allocation: string, slots: readonly string[], requestId = "lost"): void {
    const state = AllocationReportState.RUNNING;
    const rest = { nodeRank: 0, pid: 9, launchFailed: false, killed: false };
    this.held.set(allocation, { allocation, requestId, state, slots, ...rest });
  }

  /** Returns the key of the held run that a message names; undefined for none. */
  #keyOf(named: RequestedRun): string | undefined {
    return [...this.held].find(([, one]) => runKeyOf(one) === runKeyOf(named))?.[0];
  }

  async start(): Promise<void> {
    await this.#bus.subscribe(agentDoSubject(this.name), ({ body }) => {
      if (!this.silent && !this.deaf) this.#process(wanteds.decode(new TextDecoder().decode(body)));
    });
    this.report();
  }

  #process(wanted: Plain<Wanted>): void {
    if (wanted.incarnation !== this.incarnation) return;
    if (wanted.epoch < this.highestEpoch) return;
    this.highestEpoch = wanted.epoch;
    if (wanted.nameTaken !== undefined) return this.#doWithoutName(wanted);
    this.nameTaken = null;
    const older =
      wanted.epoch < this.#epoch ||
      (wanted.epoch === this.#epoch && wanted.version < this.#version);
    if (older) return;
    this.heard.push(wanted);
    this.#epoch = wanted.epoch;
    this.#version = wanted.version;
    for (const { launch, ...named } of wanted.allocations) {
      if (named.state === WantedState.KILL) {
        if (!this.stubborn) this.#kill(named);
      } else if (named.state === WantedState.STOP) {
        if (this.sendsSigterm) this.#change(this.#keyOf(named) ?? "", { terminated: true });
      } else if (launch !== undefined && this.#keyOf(launch) === undefined) this.#launch(launch);
    }
    this.#forget(wanted);
    this.report();
  }

  #forget({ forget }: Plain<Wanted>): void {
    for (const named of forget) this.held.delete(this.#keyOf(named) ?? "");
  }

  #doWithoutName(wanted: Plain<Wanted>): void {
    this.nameTaken = wanted.nameTaken ?? "";
    for (const named of wanted.allocations) if (!this.stubborn) this.#kill(named);
    this.#forget(wanted);
  }

  get incarnation(): string {
    const { folder, place } = this.identity;
    return [folder, place, this.#incarnation].join(" ");
  }

  /** Resolves when the next launch arrives. */
  nextLaunch(): Promise<void> {
    return new Promise((resolve) => {
      this.#onLaunch = resolve;
    });
  }

  #launch(launch: Plain<Launch>): void {
    this.launched.push(launch);
    this.#onLaunch();
    for (const { allocation, slots, state } of this.held.values()) {
      if (state === AllocationReportState.ENDED) continue;
      const shared = slots.filter((slot) => launch.slots.includes(slot));
      if (shared.length > 0)
        this.violations.push(`${launch.allocation} and ${allocation}: ${shared}`);
    }
    const lost = this.held.get(launch.allocation);
    if (lost !== undefined) this.held.set(runKeyOf(lost), lost);
    this.held.set(launch.allocation, {
      allocation: launch.allocation,
      requestId: launch.requestId,
      state: AllocationReportState.PREPARING,
      nodeRank: launch.nodeRank,
      slots: launch.slots,
      pid: 0,
      launchFailed: false,
      killed: false,
    });
    if (this.failing !== null) {
      const failed = {
        launchFailed: true,
        ...(this.lacking ? { lacking: true } : {}),
        ...(this.lasting ? { lasting: true } : {}),
      };
      this.end(launch.allocation, { message: this.failing }, failed);
    } else if (!this.slowStart) this.up(launch.allocation);
  }

  #kill(named: RequestedRun): void {
    const key = this.#keyOf(named);
    if (key === undefined || this.held.get(key)?.state === AllocationReportState.ENDED) return;
    this.end(key, { signal: "SIGKILL" }, { killed: true });
  }

  up(allocation: string): void {
    this.#pid += 1;
    this.#change(allocation, { state: AllocationReportState.RUNNING, pid: this.#pid });
  }

  /** The run has stored checkpoints that it could not deliver. */
  leave(allocation: string, sealed: Held["sealed"] & object): void {
    this.#change(allocation, { sealed });
  }

  end(allocation: string, exit: Partial<Plain<Exit>>, rest: Partial<Held> = {}): void {
    const nodeRank = this.held.get(allocation)?.nodeRank ?? 0;
    const whole = { nodeRank, agent: this.name, signal: "", message: "", ...exit };
    this.#change(allocation, { state: AllocationReportState.ENDED, exit: whole, ...rest });
    this.report();
  }

  /** Changes the report about an allocation, from the next report on. */
  tell(allocation: string, change: Partial<Held>): void {
    this.#change(allocation, change);
  }

  #change(allocation: string, change: Partial<Held>): void {
    const held = this.held.get(allocation);
    if (held !== undefined) this.held.set(allocation, { ...held, ...change });
  }

  /** The agent has processed a list of this epoch and version before the log began. */
  processed(epoch: number, version = 0): void {
    this.#epoch = epoch;
    this.#version = version;
    this.highestEpoch = epoch;
  }

  /** Simulates kill -9 of the agent process, and its next start. */
  restart(): void {
    this.#incarnation += 1;
    this.identity = { ...this.identity, startedMs: this.identity.startedMs + 1 };
    this.#sequence = 0;
    this.#epoch = 0;
    this.#version = 0;
    this.report();
  }

  report(): void {
    if (this.silent) return;
    this.#sequence += 1;
    const held = [...this.held.values()];
    const size = Math.max(1, Math.ceil(held.length / this.parts));
    for (let part = 1; part <= this.parts; part += 1) {
      if (part === this.lostPart) continue;
      this.#publish(held.slice((part - 1) * size, part * size), part);
    }
  }

  #publish(allocations: readonly Held[], part: number): void {
    const report: Plain<Report> = {
      agent: this.name,
      incarnation: this.incarnation,
      sequence: this.#sequence,
      epoch: this.#epoch,
      version: this.#version,
      probe: 0,
      pool: this.pool,
      slots: this.#slots,
      labels: { ...this.labels },
      agentVersion: "1",
      address: this.address,
      diskFreeBytes: this.diskFreeBytes,
      notices: [...this.notices],
      ...(this.undelivered === undefined ? {} : { undelivered: this.undelivered }),
      allocations,
      ...agentStart,
      ...this.identity,
      ...this.spoken,
      highestEpoch: this.highestEpoch,
      ...(this.parts > 1 ? { part, parts: this.parts } : {}),
    };
    this.#bus.publish(
      agentReportSubject(this.name),
      new TextEncoder().encode(reports.encode(report)),
    );
  }
}
