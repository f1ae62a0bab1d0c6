/**
 * A controller brings objects to their specification, one key at a time. Its function reads the store and writes to it
 * synchronously; it is called again after each change of what it reads, and at the time that it asks for. Changes of
 * one turn of the event loop are one call. Source: docs, "Controllers".
 */
import type { Clock } from "@trainyard/kernel";
import type { KubeObject, Objects, OwnerReference, Plural } from "./kinds.ts";
import { namespaceOf } from "./kinds.ts";

export type Key = { readonly namespace: string | null; readonly name: string };

export type ControllerContext = { readonly objects: Objects; readonly clock: Clock };

export type Controller = {
  readonly name: string;
  /** The kind that the keys name. */
  readonly plural: Plural;
  /** Other kinds that are read, and which keys their changes concern. */
  readonly reads: Partial<Readonly<Record<Plural, (object: KubeObject) => readonly Key[]>>>;
  /** Returns the time until the next call, if it needs one without a change. */
  readonly reconcile: (key: Key) => number | null;
};

/** A function that failed is called again so much later. */
const retryMs = 1_000;

export class ControllerLoop implements Disposable {
  readonly #controller: Controller;
  readonly #clock: Clock;
  readonly #queue = new Map<string, Key>();
  readonly #timers = new Map<string, Disposable>();
  readonly #watches: (() => void)[];
  readonly #failed: (error: unknown) => void;
  #turn: NodeJS.Immediate | null = null;
  #closed = false;

  constructor(
    controller: Controller,
    { objects, clock }: ControllerContext,
    failed: (error: unknown) => void,
  ) {
    this.#controller = controller;
    this.#clock = clock;
    this.#failed = failed;
    const { plural, reads } = controller;
    for (const object of objects.list(plural)) this.#add(keyOf(object));
    this.#watches = [objects.watch(plural, (object) => this.#add(keyOf(object)))];
    for (const [other, keysOf] of Object.entries(reads)) {
      const concerned = (object: KubeObject): void => {
        for (const key of keysOf(object)) this.#add(key);
      };
      this.#watches.push(objects.watch(other as Plural, concerned));
    }
  }

  [Symbol.dispose](): void {
    this.#closed = true;
    for (const end of this.#watches) end();
    for (const timer of this.#timers.values()) timer[Symbol.dispose]();
    if (this.#turn !== null) clearImmediate(this.#turn);
  }

  #add(key: Key): void {
    if (this.#closed) return;
    this.#queue.set(`${key.namespace ?? ""}/${key.name}`, key);
    this.#turn ??= setImmediate(() => {
      this.#turn = null;
      const due = [...this.#queue];
      this.#queue.clear();
      for (const [text, one] of due) this.#call(text, one);
    });
  }

  #call(text: string, key: Key): void {
    this.#timers.get(text)?.[Symbol.dispose]();
    this.#timers.delete(text);
    let afterMs: number | null;
    try {
      afterMs = this.#controller.reconcile(key);
    } catch (error) {
      this.#failed(error);
      afterMs = retryMs;
    }
    if (afterMs === null) return;
    this.#timers.set(
      text,
      this.#clock.timer(afterMs, () => this.#add(key)),
    );
  }
}

export function keyOf(object: KubeObject): Key {
  return { namespace: namespaceOf(object), name: object.metadata.name };
}

/** The controller in an object's owners. */
export function controllerOf({ metadata }: KubeObject): OwnerReference | null {
  return metadata.ownerReferences?.find(({ controller }) => controller === true) ?? null;
}

/** The keys of an object's controller, if that has this kind. */
export function ownerKeys(kind: string): (object: KubeObject) => readonly Key[] {
  return (object) => {
    const owner = controllerOf(object);
    if (owner?.kind !== kind) return [];
    return [{ namespace: namespaceOf(object), name: owner.name }];
  };
}

export function ownedBy(owner: KubeObject): OwnerReference {
  return {
    apiVersion: owner.apiVersion,
    kind: owner.kind,
    name: owner.metadata.name,
    uid: owner.metadata.uid ?? "",
    controller: true,
    blockOwnerDeletion: true,
  };
}

/** The time as objects have it, to a second. */
export function timeText(clock: Clock): string {
  return `${new Date(clock.nowMs()).toISOString().slice(0, 19)}Z`;
}

/** The earliest of the times until a next call. */
export function soonest(...all: readonly (number | null)[]): number | null {
  const times = all.filter((ms) => ms !== null);
  return times.length === 0 ? null : Math.max(0, Math.min(...times));
}
