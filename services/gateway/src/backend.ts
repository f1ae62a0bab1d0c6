/** The parts that all handlers of the API share: the read model, the log, and the commands of other services. */

import { randomUUID } from "node:crypto";
import type { BlobStore, StorageDisk } from "@trainyard/blob";
import type { Bus } from "@trainyard/bus";
import type {
  CommandName,
  CommandReplyOf,
  CommandRequestOf,
  CommandService,
} from "@trainyard/contracts/command-services";
import type { EventLog } from "@trainyard/event-log";
import { type Clock, type Fault, isFault, type JsonObject, limits } from "@trainyard/kernel";
import {
  decodeReply,
  type Executor,
  encodeRequest,
  type LogEpoch,
  type LogFollower,
  type Logger,
  readRejected,
  type View,
} from "@trainyard/runtime";
import type { Pool } from "pg";
import type { RecentEvents } from "@trainyard/outbound";
import type { AnalysisThread } from "./api/analysis/analysis-thread.ts";
import { SchedulerWatch } from "./api/cluster/scheduler-watch.ts";
import { apiLimits } from "./api/limits.ts";
import type { UserDirectory } from "./people/directory.ts";
import { nobody } from "./http/caller.ts";
import type { OpenChecks } from "./http/open-checks.ts";
import type { FairQueue } from "./http/fair-queue.ts";
import { notFound, Problem, problemOf, unavailable } from "./http/problem.ts";
import type { RequestContext } from "./http/request-context.ts";
import type { CurrentAccess } from "./people/current-access.ts";
import type {
  DocumentKind,
  Documents,
  ExperimentDocument,
} from "./read-model/core/views/documents.ts";
import type { DocumentStore } from "./read-model/document-store.ts";

export type BackendParts = {
  readonly log: EventLog;
  /** The history of the database, which events that leave carry. */
  readonly epoch: LogEpoch;
  /** The latest events, for the streams that leave. */
  readonly recent: RecentEvents;
  readonly bus: Bus;
  readonly pool: Pool;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly documents: DocumentStore;
  readonly view: View;
  /** The queue of list queries, which leaves database connections to other queries. */
  readonly listQueries: FairQueue;
  readonly analyses: AnalysisThread;
  readonly blobs: BlobStore;
  /** The directories of checkpoints and TensorBoard files, behind the brake. */
  readonly disk: StorageDisk;
  /** The executor for the streams that the gateway owns. */
  readonly executor: Executor;
  /** Keeps the folds of single streams current, independently of the read model. */
  readonly follower: LogFollower;
  /** The roles of the moment. */
  readonly access: CurrentAccess;
  /** Checks open calls again when rights may have changed. */
  readonly checks: Pick<OpenChecks, "begin">;
  /** The names of the users. */
  readonly directory: UserDirectory;
};

/** The caller and the ids that a command to a service carries. */
export type Asker = Pick<RequestContext, "caller" | "commitId" | "traceparent">;

/** The identity of reads that several callers share. */
export const asGateway = (): Asker => ({
  caller: nobody,
  commitId: randomUUID(),
  traceparent: "",
});

export class Backend {
  readonly parts: BackendParts;
  readonly scheduler: SchedulerWatch;

  constructor(parts: BackendParts) {
    this.parts = parts;
    this.scheduler = new SchedulerWatch(parts);
  }

  /** Sends a command to a service. A rejection becomes a Problem, and an unavailable service a 503. */
  async command<
    Service extends Exclude<CommandService, "common">,
    Name extends CommandName<Service>,
  >(
    service: Service,
    name: Name,
    message: CommandRequestOf<Service, Name>,
    context: Asker,
  ): Promise<CommandReplyOf<Service, Name>> {
    return decodeReply(service, name, await this.reply(service, name, message, context));
  }

  /** Sends a command to a service. Returns its answer as it is encoded. */
  reply<Service extends Exclude<CommandService, "common">, Name extends CommandName<Service>>(
    service: Service,
    name: Name,
    message: CommandRequestOf<Service, Name>,
    context: Asker,
  ): Promise<Uint8Array> {
    return this.#request(service, name, encodeRequest(service, name, message), context);
  }

  /** Sends one of the commands that several services answer. */
  async commonCommand<Name extends CommandName<"common">>(
    service: string,
    name: Name,
    message: CommandRequestOf<"common", Name>,
    context: Asker,
  ): Promise<CommandReplyOf<"common", Name>> {
    const request = encodeRequest("common", name, message);
    return decodeReply("common", name, await this.#request(service, name, request, context));
  }

  async #request(
    service: string,
    name: string,
    body: Uint8Array,
    { commitId, caller, traceparent }: Asker,
  ): Promise<Uint8Array> {
    const headers = { commitId, authid: caller.authid, traceparent, correlationid: "" };
    const answer = await this.parts.bus
      .request(service, name, { headers, body }, apiLimits.commandDeadlineMs)
      .catch((error: unknown) => {
        if (isFault(error) && error.code === "message_too_large") throw tooLarge(service, error);
        if (!isFault(error) || error.retry === "never") throw error;
        this.parts.logger.warn({ err: error, service }, "service_unreachable");
        const away = this.parts.bus.outage();
        if (away === null)
          throw unavailable(`the ${service} service does not answer now; try again`);
        throw unavailable(`the bus is away, so the ${service} service cannot be asked; try again`);
      });
    if (answer.kind === "ok") return answer.body;
    if (answer.kind === "rejected") {
      const rejection = readRejected(answer.body);
      const detail = this.parts.directory.namedSentence(rejection.detail);
      throw problemOf({ ...rejection, detail });
    }
    throw unavailable(`the ${service} service cannot do this now: ${answer.detail}`);
  }

  /** Waits until the read model and the cached folds have reached a position; throws a 503 if that takes too long. */
  async reach(position: number): Promise<void> {
    await Promise.all([inTime(this.parts.view.reach(position)), this.hear(position)]);
  }

  /** Waits until the cached folds of single streams have reached a position; the read model may be behind. */
  hear(position: number): Promise<void> {
    return inTime(this.parts.follower.reach(position, limits.readYourWritesMs));
  }

  async reachText(position: string): Promise<void> {
    if (position === "") return;
    if (!/^\d{1,15}$/.test(position)) {
      throw new Problem(400, "invalid_request", "min_position is a log position");
    }
    await this.reach(Number(position));
  }

  async find<Kind extends DocumentKind>(
    kind: Kind,
    id: string,
  ): Promise<Documents[Kind] | undefined> {
    // No id has a NUL, since PostgreSQL cannot store it in a text.
    if (id.includes("\0")) return undefined;
    const { documents, pool } = this.parts;
    const found = await documents.get(pool, kind, id);
    return found !== undefined && (await this.#isHidden(kind, found)) ? undefined : found;
  }

  /** Whether a document is hidden because its experiment is deleted or gone: the experiment itself, or its trial. */
  async #isHidden<Kind extends DocumentKind>(kind: Kind, doc: Documents[Kind]): Promise<boolean> {
    if (kind === "experiment") return isDeleted(doc as ExperimentDocument);
    if (kind !== "trial") return false;
    const { documents, pool } = this.parts;
    const { experiment } = doc as Documents["trial"];
    const owner = await documents.get(pool, "experiment", experiment);
    return owner === undefined || isDeleted(owner);
  }

  async get<Kind extends DocumentKind>(kind: Kind, id: string): Promise<Documents[Kind]> {
    const found = await this.find(kind, id);
    if (found === undefined) throw notFound(kind, id);
    return found;
  }

  /** Returns an experiment and its configuration with one query. */
  async experimentWithConfig(id: string) {
    const { documents, pool } = this.parts;
    // No id has a NUL, since PostgreSQL cannot store it in a text.
    const keys = id.includes("\0")
      ? []
      : (["experiment", "config"] as const).map((kind) => ({ kind, id }));
    const rows = await documents.fetch(pool, keys);
    const found = rows.find((row) => row.kind === "experiment");
    if (found === undefined || isDeleted(found.doc)) throw notFound("experiment", id);
    const config = rows.find((row) => row.kind === "config")?.doc.config;
    return { doc: found.doc, config };
  }

  /** Returns the configuration of an experiment; undefined if none was recorded. */
  async configOf(experiment: string): Promise<JsonObject | undefined> {
    return (await this.find("config", experiment))?.config;
  }

  get position(): string {
    return String(this.parts.view.position);
  }
}

export function isDeleted({ deletion }: ExperimentDocument): boolean {
  return deletion !== undefined;
}

/** The client's body may be larger than the message in which a service gets it. */
function tooLarge(service: string, { message }: Fault): Problem {
  return new Problem(413, "too_large", `shorten the request to the ${service} service: ${message}`);
}

async function inTime(reached: Promise<void>): Promise<void> {
  try {
    await reached;
  } catch (error) {
    if (!isFault(error)) throw error;
    throw unavailable(error.message);
  }
}
