/**
 * Starts the supervisors of an agent's runs. A run in a container gets a process of Node (supervisor-process.ts). All
 * others are forked by a small Python process (supervisor/starter.py), one per agent, for a tenth of the processor
 * time. Its death costs no run: forked supervisors do not need it, and an unanswered order is given to the next one,
 * since exactly one supervisor can claim a run.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { identityOf, isAlive, type ProcessIdentity } from "@trainyard/kernel/process-identity";
import { limits } from "../limits.ts";
import type { Mechanism } from "../state/run-group.ts";
import { pythonIn, starterProgram } from "../supervisor/python.ts";
import type { StartOrder } from "../runtime/start-order.ts";
import { passedOnOf, SupervisorProcess } from "./supervisor-process.ts";

/** The supervisor of one run. If it is disposed before it gets an order, it starts nothing. */
export type StartedSupervisor = Disposable & {
  order(order: StartOrder): void;
  /** True while the supervisor may still claim the run. */
  readonly isRunning: boolean;
};

export type Supervisors = Disposable & {
  /** `onExit` is called when the supervisor is known to have ended without a claim. */
  start(runFolder: string, onExit: () => void): StartedSupervisor;
};

type Variables = Readonly<Record<string, string>>;

export function supervisorsOf(
  mechanism: Mechanism,
  runsFolder: string,
  variables: Variables,
): Supervisors {
  if (mechanism !== "container") return new Starter(runsFolder, variables);
  return {
    start: (folder, onExit) => new SupervisorProcess(folder, variables, onExit),
    [Symbol.dispose]: () => {},
  };
}

type Asked = {
  readonly folder: string;
  readonly order: StartOrder;
  readonly onExit: () => void;
  /** The number of starters that got this order. */
  asked: number;
  /** The supervisor's identity; null until a starter has answered. */
  identity: ProcessIdentity | null;
  isOver: boolean;
};

type Answer = { readonly id: number; readonly pid?: number; readonly error?: string };

export class Starter implements Supervisors {
  readonly #runsFolder: string;
  readonly #variables: Variables;
  /** Requests that no starter has answered yet. */
  readonly #open = new Map<number, Asked>();
  #child: ChildProcess | null = null;
  #last = 0;
  #isDisposed = false;

  constructor(runsFolder: string, variables: Variables) {
    this.#runsFolder = runsFolder;
    this.#variables = variables;
    this.#child = this.#spawn();
  }

  /** The pid of the present starter; null if it is dead. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  start(folder: string, onExit: () => void): StartedSupervisor {
    let asked: Asked | null = null;
    let isDisposed = false;
    return {
      order: (order) => {
        asked = { folder, order, onExit, asked: 0, identity: null, isOver: false };
        this.#last += 1;
        this.#open.set(this.#last, asked);
        this.#ask(this.#last, asked);
      },
      get isRunning() {
        if (asked === null) return !isDisposed;
        return !asked.isOver && (asked.identity === null || isAlive(asked.identity));
      },
      [Symbol.dispose]: () => {
        isDisposed = true;
      },
    };
  }

  /** The starter ends once it has answered its requests; the supervisors continue. */
  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#child?.stdin?.end();
  }

  #ask(id: number, asked: Asked): void {
    this.#child ??= this.#spawn();
    asked.asked += 1;
    this.#child.stdin?.write(
      `${JSON.stringify({ id, folder: asked.folder, order: asked.order })}\n`,
    );
  }

  #spawn(): ChildProcess {
    const [python, ...parameters] = pythonIn(starterProgram);
    const child = spawn(python, [...parameters, this.#runsFolder], {
      cwd: this.#runsFolder,
      env: passedOnOf(this.#variables),
      detached: true,
      stdio: ["pipe", "pipe", "inherit"],
    });
    const gone = (): void => this.#gone(child);
    child.once("exit", gone);
    child.once("error", gone);
    // The starter may die before it has read an order; its exit handler handles that.
    child.stdin.on("error", () => {});
    createInterface({ input: child.stdout }).on("line", (line) => this.#hear(line));
    // A run that waits for a supervisor watches its own folder, so the child need not keep this process alive.
    child.unref();
    return child;
  }

  #hear(line: string): void {
    const { id, pid } = JSON.parse(line) as Answer;
    const asked = this.#open.get(id);
    if (asked === undefined) return;
    this.#open.delete(id);
    asked.identity = pid === undefined ? null : identityOf(pid);
    // A supervisor that is dead already may have claimed the run, which the run's folder shows.
    if (asked.identity === null) end(asked);
  }

  #gone(child: ChildProcess): void {
    if (this.#child !== child) return;
    this.#child = null;
    for (const [id, asked] of this.#open) {
      if (!this.#isDisposed && asked.asked < limits.startersAsked) this.#ask(id, asked);
      else {
        this.#open.delete(id);
        end(asked);
      }
    }
  }
}

function end(asked: Asked): void {
  asked.isOver = true;
  asked.onExit();
}
