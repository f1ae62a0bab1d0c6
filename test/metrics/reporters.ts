/**
 * Scripted training processes: they send reports of each trial doubled, reordered and cut off, over HTTP and gRPC,
 * until each is acknowledged. The reports are the ground truth for checks.
 */
import { randomUUID } from "node:crypto";
import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ReportService, type StreamReportsResponse } from "@trainyard/contracts/api";
import { drawInteger } from "@trainyard/kernel";
import { GrpcClient } from "@trainyard/runtime/grpc";

export type Report = {
  readonly key: string;
  readonly group: string;
  readonly stepsCompleted: number;
  readonly atMs: number;
  readonly metrics: { readonly [name: string]: JsonValue };
};

type JsonValue = number | string | boolean | null | JsonValue[] | { [name: string]: JsonValue };

/** The addresses for reports, and the sender's token. */
export type Destination = {
  readonly http: string;
  readonly grpc: string;
  readonly run: string;
  readonly token: string;
};

const { writeReports, streamReports } = ReportService.method;

const atOnce = 4;
const retryMs = 150;

export class Reporter {
  readonly truth: Report[] = [];
  /** A sentence for each report that the platform refused. */
  readonly violations: string[] = [];
  readonly sent = { requests: 0, repeats: 0, cut: 0, failed: 0 };
  readonly #to: Destination;
  readonly #seed: number;
  readonly #pauseMs: number;
  #draws = 0;

  constructor(to: Destination, seed: number, pauseMs: number) {
    this.#to = to;
    this.#seed = seed;
    this.#pauseMs = pauseMs;
  }

  /** Reports until the signal aborts, and resolves when every report is acknowledged. */
  async run(until: AbortSignal): Promise<void> {
    const open = new Set<Promise<void>>();
    while (!until.aborted) {
      const batch = this.#nextBatch();
      // Several requests run at once, so that they arrive in another order than they were made in, and some twice.
      for (let copies = this.#draw(5) === 0 ? 2 : 1; copies > 0; copies -= 1) {
        const sending = this.#untilAcknowledged(batch).finally(() => open.delete(sending));
        open.add(sending);
      }
      while (open.size >= atOnce) await Promise.race(open);
      await delay(this.#draw(2 * this.#pauseMs));
    }
    await Promise.all(open);
  }

  #draw(bound: number): number {
    this.#draws += 1;
    return drawInteger(this.#seed, this.#to.run, this.#draws, bound);
  }

  /** New reports and some earlier ones, shuffled. */
  #nextBatch(): readonly Report[] {
    const fresh = Array.from({ length: 1 + this.#draw(20) }, () => this.#nextReport());
    const earlier = Array.from({ length: this.#draw(4) }, () => {
      const index = this.#draw(Math.max(1, this.truth.length));
      return this.truth[index];
    }).filter((report) => report !== undefined);
    this.truth.push(...fresh);
    this.sent.repeats += earlier.length;
    const batch = [...fresh, ...earlier];
    return batch
      .map((report) => ({ report, at: this.#draw(1_000_000) }))
      .toSorted((a, b) => a.at - b.at)
      .map(({ report }) => report);
  }

  #nextReport(): Report {
    const n = this.truth.length + this.#draw(1_000_000) / 1_000_000;
    const number = this.#draws;
    const kind = this.#draw(20);
    return {
      // One key in twenty is not numbered by its process.
      key: kind === 0 ? randomUUID() : `0-${number}`,
      group: kind === 1 ? "validation" : kind < 5 ? "my group" : "training",
      stepsCompleted: Math.floor(n / 3),
      atMs: 1_700_000_000_000 + number,
      metrics: {
        loss: kind === 2 ? "NaN" : n / 7,
        ...(kind < 10 ? { accuracy: kind / 10 } : {}),
        ...(kind === 3 ? { note: `report ${number}`, table: [[1, "a"], { deep: null }] } : {}),
      },
    };
  }

  async #untilAcknowledged(batch: readonly Report[]): Promise<void> {
    for (;;) {
      const way = this.#draw(5);
      this.sent.requests += 1;
      try {
        if (way === 0) await this.#cut(batch);
        const refused =
          way === 1
            ? await this.#overGrpc(batch)
            : way === 2
              ? await this.#overStream(batch)
              : await this.#overHttp(batch);
        if (refused !== null) this.violations.push(`run ${this.#to.run}: ${refused}`);
        return;
      } catch {
        // The request got no answer, so it is unknown whether the reports are stored.
        this.sent.failed += 1;
        await delay(retryMs);
      }
    }
  }

  /** Null when acknowledged, else the reason of the refusal; throws on a failure that may be retried. */
  async #overHttp(reports: readonly Report[]): Promise<string | null> {
    const { http, run, token } = this.#to;
    const response = await fetch(`${http}/api/v1/runs/${encodeURIComponent(run)}/reports`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
      body: JSON.stringify({ reports }),
      signal: AbortSignal.timeout(10_000),
    });
    const text = await response.text();
    if (response.status >= 500 || response.status === 429) throw new Error(text);
    return response.status === 200 ? null : `${response.status} ${text}`;
  }

  async #overGrpc(reports: readonly Report[]): Promise<string | null> {
    using client = new GrpcClient(this.#to.grpc, this.#to.token);
    const { run } = this.#to;
    return client
      .call(writeReports, { run, reports: [...reports] })
      .then(() => null)
      .catch(passing);
  }

  async #overStream(reports: readonly Report[]): Promise<string | null> {
    using client = new GrpcClient(this.#to.grpc, this.#to.token);
    const stream = client.exchange(streamReports);
    const acknowledged = new Promise<string | null>((resolve, reject) => {
      stream.on("data", ({ refused, superseded }: StreamReportsResponse) =>
        resolve(
          refused.length + superseded === 0 ? null : `${refused.length + superseded} refused`,
        ),
      );
      stream.on("error", reject).on("end", () => reject(new Error("the stream ended")));
    });
    stream.write({ batch: 1, reports: [...reports] });
    try {
      return await acknowledged.catch(passing);
    } finally {
      stream.end();
    }
  }

  /** Sends a request that breaks off at a random byte of its body. */
  async #cut(reports: readonly Report[]): Promise<void> {
    const { http, run, token } = this.#to;
    const { hostname, port } = new URL(http);
    const body = Buffer.from(JSON.stringify({ reports }));
    const head = [
      `POST /api/v1/runs/${encodeURIComponent(run)}/reports HTTP/1.1`,
      `host: ${hostname}`,
      "content-type: application/json",
      `authorization: Bearer ${token}`,
      `content-length: ${body.length}`,
    ].join("\r\n");
    const part = body.subarray(0, this.#draw(body.length));
    this.sent.cut += 1;
    await new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => {}).on("close", () => resolve());
      socket.write(`${head}\r\n\r\n`);
      socket.write(part, () => socket.destroy());
    });
  }
}

/** Throws unless the error is temporary: UNAVAILABLE, or a network error of a server that dies. */
function passing(error: unknown): string {
  const { code } = error as { readonly code?: number };
  const refusals = [3, 5, 7, 9, 16];
  if (code === undefined || !refusals.includes(code)) throw error;
  return String(error);
}
