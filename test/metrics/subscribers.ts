/**
 * The subscribers of an experiment's points: over server-sent events, over gRPC, and one that disconnects repeatedly.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Client } from "@trainyard/client";
import type { Plain } from "@trainyard/contracts";
import {
  type MetricPoint,
  MetricStreamService,
  type StreamedMetric,
} from "@trainyard/contracts/api";
import { drawInteger } from "@trainyard/kernel";
import { GrpcClient } from "@trainyard/runtime/grpc";

/** A message without a point: a later run supersedes points. */
export type Heard = { readonly position: number; readonly point: Plain<MetricPoint> | undefined };

export type Subscriber = {
  readonly name: string;
  readonly heard: Heard[];
  readonly reconnects: () => number;
  readonly running: Promise<void>;
};

type Source = {
  readonly experiment: string;
  readonly client: () => Client;
  readonly grpc: () => string;
  readonly token: string;
  readonly seed: number;
  readonly until: AbortSignal;
};

const retryMs = 100;

/** Each subscriber reconnects after the position of its last message, until the signal aborts. */
export function subscribe(source: Source): readonly Subscriber[] {
  return [
    subscriber("server-sent events", source, overHttp),
    subscriber("gRPC", source, overGrpc),
    subscriber("server-sent events, hanging up", source, hangingUp),
  ];
}

type Connect = (
  source: Source,
  after: string,
  turn: number,
) => AsyncIterable<Plain<StreamedMetric>>;

function subscriber(name: string, source: Source, connect: Connect): Subscriber {
  const heard: Heard[] = [];
  let turns = 0;
  const run = async (): Promise<void> => {
    for (let after = "0"; !source.until.aborted; turns += 1) {
      try {
        for await (const { position, point } of connect(source, after, turns)) {
          after = position;
          heard.push({ position: Number(position), point });
        }
      } catch {
        // The gateway is down: the subscriber reconnects.
      }
      if (!source.until.aborted) await delay(retryMs);
    }
  };
  return { name, heard, reconnects: () => turns, running: run() };
}

async function* overHttp(source: Source, after: string): AsyncGenerator<Plain<StreamedMetric>> {
  const { experiment, until: signal } = source;
  const stream = source.client().stream("followMetrics", { experiment, after }, { signal });
  for await (const { message } of stream) yield message;
}

/** Ends the stream after some messages. */
async function* hangingUp(
  source: Source,
  after: string,
  turn: number,
): AsyncGenerator<Plain<StreamedMetric>> {
  let left = 1 + drawInteger(source.seed, "hanging up", turn, 400);
  for await (const message of overHttp(source, after)) {
    yield message;
    left -= 1;
    if (left === 0) return;
  }
}

async function* overGrpc(source: Source, after: string): AsyncGenerator<Plain<StreamedMetric>> {
  const { experiment } = source;
  using client = new GrpcClient(source.grpc(), source.token);
  const stream = client.read(MetricStreamService.method.followMetrics, { experiment, after });
  const cancel = (): void => stream.cancel();
  source.until.addEventListener("abort", cancel);
  try {
    yield* stream as AsyncIterable<StreamedMetric>;
  } finally {
    source.until.removeEventListener("abort", cancel);
  }
}
