/**
 * Answers of the metrics service for charts, which gateways share. A key is the query and the position of the
 * experiment's stream of points, so an answer is used only while no point was added. The position is read for each
 * query. A key has nothing of the caller: a caller's rights are checked before.
 */
import { createHash } from "node:crypto";
import type { Plain } from "@trainyard/contracts";
import type { QuerySeries, SeriesSet } from "@trainyard/contracts/commands";
import { parseTrialId } from "@trainyard/kernel";
import { decodeReply, encodeRequest } from "@trainyard/runtime";
import { asGateway, type Backend } from "../../backend.ts";
import { SharedLookups } from "../../http/shared-lookups.ts";
import { shared } from "../../live/shared.ts";
import type { SharedState } from "../../rates/shared-state.ts";
import { apiLimits } from "../limits.ts";

type Query = Plain<QuerySeries>;
type Answer = Plain<SeriesSet>;

export type SeriesAnswersDeps = {
  readonly backend: Backend;
  readonly state: Pick<SharedState, "get" | "put">;
  readonly clusterId: () => string;
};

export class SeriesAnswers {
  readonly #deps: SeriesAnswersDeps;
  /** The running reads by key. */
  readonly #running = new Map<string, Promise<Answer>>();
  readonly #positions: SharedLookups<number>;

  constructor(deps: SeriesAnswersDeps) {
    this.#deps = deps;
    this.#positions = new SharedLookups((experiments) => this.#positionsOf(experiments));
  }

  /** Returns the answer to a query for trials of one experiment, with all points that were stored before the call. */
  async of(experiment: string, query: Query): Promise<Answer> {
    const position = (await this.#positions.get(experiment)) ?? 0;
    const key = this.#keyOf(query, position);
    return shared(this.#running, key, async () => {
      const kept = read(await this.#deps.state.get(key));
      if (kept?.streamPositions[experiment] === position) return kept;
      return this.#ask(experiment, query);
    });
  }

  async #ask(experiment: string, query: Query): Promise<Answer> {
    const { backend, state } = this.#deps;
    const bytes = await backend.reply("metrics", "QuerySeries", query, asGateway());
    const answer = decodeReply("metrics", "QuerySeries", bytes);
    const key = this.#keyOf(query, answer.streamPositions[experiment] ?? 0);
    void state.put(key, bytes, apiLimits.seriesKeptMs);
    return answer;
  }

  async #positionsOf(experiments: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const positions = experiments.map(
      async (experiment) => [experiment, await this.#positionOf(experiment)] as const,
    );
    return new Map(await Promise.all(positions));
  }

  async #positionOf(experiment: string): Promise<number> {
    const all = { experiment, trial: "", group: "", limit: 0 };
    const { backend } = this.#deps;
    const { next } = await backend.command("metrics", "QueryStreamedPoints", all, asGateway());
    return next;
  }

  #keyOf(query: Query, position: number): string {
    const hash = createHash("sha256").update(`${this.#deps.clusterId()} ${position} `);
    return hash.update(encodeRequest("metrics", "QuerySeries", query)).digest("base64url");
  }
}

/** Returns null for bytes that are no answer. */
function read(bytes: Uint8Array | null): Answer | null {
  if (bytes === null) return null;
  try {
    return decodeReply("metrics", "QuerySeries", bytes);
  } catch {
    // Another program or version has written them.
    return null;
  }
}

/** Returns the experiment of all trials; null if they are of several. */
export function onlyExperiment(trials: readonly string[]): string | null {
  const [one = null, ...others] = new Set(trials.map((trial) => parseTrialId(trial)?.experiment));
  return others.length === 0 ? one : null;
}
