/**
 * Simulated users who run tasks: they create some, pause and resume some, kill some while they wait or run, and delete
 * some, over the bus. They use numbers of their own, so that the experiments of a world do not depend on its tasks.
 */
import type { MemoryHub } from "@trainyard/bus/testing";
import { decodeEvent } from "@trainyard/contracts";
import type { MemoryLog } from "@trainyard/event-log/testing";
import { idOf, pause } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
import { Asking } from "./asking.ts";
import { Chance } from "./chance.ts";
import type { PeopleDeps } from "./people.ts";
import type { WorldOptions } from "./world.ts";

/** The tasks of a world. */
const tasksEach = 4;
/** The time within which the tasks of a world are created. */
const createdMs = 60_000;

export class TaskPeople {
  readonly #deps: Omit<PeopleDeps, "fickle">;
  readonly #asking: Asking;
  /** The number of tasks whose users have not asked for everything yet. */
  #busy = 0;

  private constructor(deps: Omit<PeopleDeps, "fickle">) {
    this.#deps = deps;
    this.#asking = new Asking(deps.bus, deps.clock, "experiments", "tasks");
  }

  /** The users of a world; none if its submissions were given, unless it has tasks beside them. */
  static of(
    { seed, submissions, tasks = submissions === undefined }: WorldOptions,
    { hub, ...deps }: Pick<PeopleDeps, "clock" | "log"> & { readonly hub: MemoryHub },
  ): TaskPeople {
    const bus = hub.connect("tasks");
    const people = new TaskPeople({ ...deps, bus, chance: new Chance(seed, "tasks") });
    if (tasks) people.#begin(tasksEach);
    return people;
  }

  /** Starts the users of `count` tasks. */
  #begin(count: number): void {
    for (let n = 0; n < count; n += 1) {
      this.#busy += 1;
      void this.#use().then(() => {
        this.#busy -= 1;
      });
    }
  }

  /** True once every user is done, and every task of the log has ended. */
  get done(): boolean {
    return this.#busy === 0 && unendedTasks(this.#deps.log).length === 0;
  }

  async #use(): Promise<void> {
    const { chance, clock } = this.#deps;
    await pause(clock, chance.between(0, createdMs));
    const task = await this.#create();
    if (chance.happens(0.3)) {
      await pause(clock, chance.between(0, 30_000));
      await this.#ask("PauseTask", { task, reason: "" });
      await pause(clock, chance.between(0, 60_000));
      await this.#ask("ResumeTask", { task });
    }
    if (chance.happens(0.4)) {
      await pause(clock, chance.between(0, 30_000));
      await this.#ask("KillTask", { task, reason: "" });
    }
    if (chance.happens(0.3)) {
      await pause(clock, chance.between(0, 60_000));
      await this.#ask("DeleteTask", { task });
    }
  }

  async #create(): Promise<string> {
    const request = {
      kind: this.#deps.chance.pick(["command", "shell", "notebook"]),
      config: configOf(this.#deps.chance),
      ...{ name: "sim", contextDigest: "", contextBytes: 0, contextDeletions: 0 },
      ...{ owner: "", workspace: "", tokenId: "", sources: [] },
    };
    const body = encodeRequest("experiments", "CreateTask", request);
    const reply = await this.#asking.ask("CreateTask", body);
    if (reply.kind !== "ok") throw new Error(`a task was refused: ${JSON.stringify(reply)}`);
    return idOf(decodeReply("experiments", "CreateTask", reply.body).stream);
  }

  /** A request that is refused is not repeated: the log may have lost the task. */
  async #ask<Name extends "KillTask" | "DeleteTask" | "PauseTask" | "ResumeTask">(
    name: Name,
    request: Parameters<typeof encodeRequest<"experiments", Name>>[2],
  ): Promise<void> {
    await this.#asking.ask(name, encodeRequest("experiments", name, request));
  }
}

function configOf(chance: Chance) {
  return {
    entrypoint: "work",
    max_restarts: chance.between(0, 2),
    preemption_timeout: 20,
    resources: {
      slots: chance.between(0, 2),
      priority: chance.pick([10, 42, 80]),
      preemptible: chance.happens(0.5),
      ...(chance.happens(0.3) ? { time_limit: chance.between(5, 20) } : {}),
    },
  };
}

/** Returns the tasks of the log that have not ended. */
export function unendedTasks(log: MemoryLog): readonly string[] {
  const open = new Set<string>();
  for (const stored of log.store.events) {
    if (!stored.stream.startsWith("task-")) continue;
    const { type } = decodeEvent(stored);
    if (type === "TaskCreated" || type === "TaskResumed") open.add(stored.stream);
    if (type === "TaskEnded") open.delete(stored.stream);
  }
  return [...open];
}
