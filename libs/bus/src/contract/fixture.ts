/** The parts of the contract suite that an adapter provides, and helpers of the tests. */
import type { StoredEvent } from "@trainyard/event-log";
import type { Bus, CommandRequest } from "../port.ts";

export interface BusFixture extends AsyncDisposable {
  /** Connects a client; clients of one name are replicas. */
  connect(name: string): Promise<Bus>;
  /** Stops the server. */
  down(): Promise<void>;
  /** Starts the server again with the data that it had. */
  up(): Promise<void>;
  /** Deletes the server's data, like a removal of its folder between two starts. */
  wipe(): Promise<void>;
}

export type OpenFixture = () => Promise<BusFixture>;

const waitMs = 90_000;
const lookEveryMs = 5;

/** Resolves when the condition is true; throws after a deadline, with the condition's description. */
export async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + waitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`timed out while waiting until ${what}`);
    await new Promise((done) => setTimeout(done, lookEveryMs));
  }
}

/** An event as the log stores it at that position. */
export function eventAt(position: number, changes: Partial<StoredEvent> = {}): StoredEvent {
  const suffix = String(position).padStart(12, "0");
  return {
    position,
    stream: `trial-7.${position}`,
    version: 1,
    id: `01931b5e-0000-7000-8000-${suffix}`,
    type: "dev.trainyard.trial.TrialCreated.v1",
    timeMs: 1_764_000_000_000 + position,
    commitId: `01931b5e-0000-7000-9000-${suffix}`,
    meta: {
      source: "/trainyard/experiments",
      workspace: "default",
      correlationid: `correlation-${position}`,
      causationid: `01931b5e-0000-7000-8000-${String(position - 1).padStart(12, "0")}`,
      authid: "user-1",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
    body: `{"number":${position}}`,
    ...changes,
  };
}

export function eventsFrom(first: number, last: number): readonly StoredEvent[] {
  return Array.from({ length: last - first + 1 }, (_, index) => eventAt(first + index));
}

export const positionsOf = (events: readonly StoredEvent[]): readonly number[] =>
  events.map((event) => event.position);

const encoder = new TextEncoder();
const decoder = new TextDecoder();
export const bytes = (text: string): Uint8Array => encoder.encode(text);
export const text = (body: Uint8Array): string => decoder.decode(body);

export function commandOf(body: string): CommandRequest {
  return {
    headers: {
      commitId: "01931b5e-0000-7000-9000-000000000001",
      authid: "user-1",
      traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      correlationid: "correlation-1",
    },
    body: bytes(body),
  };
}

/** Ids with characters that have a meaning in NATS subjects, and other special characters. */
export const awkwardIds = [
  "12.3",
  "12.3#2",
  "*",
  ">",
  "a b",
  "a%2Eb",
  "a.b",
  "Übung-数据-🙂",
  "tab\tand\r\nline",
] as const;
