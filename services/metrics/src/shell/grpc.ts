/** The gRPC interface: reports of runs, as one call for each batch or as a stream with acknowledgements. */
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  ReportService,
  type RunReport,
  type StreamReportsRequest,
  type WriteReportsRequest,
  WriteReportsRequestSchema,
} from "@trainyard/contracts/api";
import { HeldBody, leavesHalf, type Listening, Problem, type Serving } from "@trainyard/runtime";
import { grpcService, pipelined, startGrpcServer } from "@trainyard/runtime/grpc";
import { metricsLimits } from "../limits.ts";
import { type HttpDeps, problemOf } from "./http.ts";
import { type ReportRequests, type Reporter, requireRun, takeAll } from "./report-requests.ts";

const codec = codecOf<Plain<WriteReportsRequest>>(WriteReportsRequestSchema);

export function startGrpc(
  deps: Pick<HttpDeps, "reportRequests" | "bodies" | "logger" | "registry">,
  { readiness, draining }: Serving,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const { reportRequests, bodies, logger, registry } = deps;
  const calls = new Room(metricsLimits.grpcCallsMax, metricsLimits.grpcCallsOfRunMax);
  const streams = new Room(metricsLimits.grpcStreamsMax, metricsLimits.grpcStreamsOfRunMax);
  const reports = grpcService<typeof ReportService, Reporter>(ReportService, {
    writeReports: async (request, { caller, traceparent }) => {
      requireRun(caller, request.run);
      return takeAll(reportRequests, caller, codec.toJson(request), traceparent);
    },
    streamReports: (requests, { caller, traceparent }) =>
      pipelined(requests, metricsLimits.streamBatchesMax, (request) =>
        takeBatch(reportRequests, caller, request, traceparent),
      ),
  });
  return startGrpcServer(
    {
      services: [reports],
      admit: async (_, { authorization }) => reportRequests.authorize(authorization),
      enter: (method, { id }) => (method === "streamReports" ? streams : calls).enter(id),
      problemOf: (error) => problemOf(error, logger),
      readiness,
      draining,
      registry,
      bodies,
      nameOf: ({ id }) => id,
      messageBytesMax: metricsLimits.requestBytesMax,
    },
    address,
  );
}

async function takeBatch(
  reportRequests: ReportRequests,
  reporter: Reporter,
  { batch, reports }: Plain<StreamReportsRequest>,
  traceparent: string,
) {
  const { stored, superseded, refused } = await reportRequests.take(
    reporter,
    asJson(reporter.id, reports),
    traceparent,
  );
  return { batch, accepted: stored, refused: [...refused], superseded };
}

const asJson = (run: string, reports: readonly Plain<RunReport>[]) =>
  codec.toJson({ run, reports, refuseAlone: true });

/** Limits the number of concurrent calls; a run has at most half of the places that the others leave. */
class Room {
  readonly #most: number;
  readonly #mostOfRun: number;
  readonly #takenOf = new Map<string, number>();
  #taken = 0;

  constructor(most: number, mostOfRun: number) {
    this.#most = most;
    this.#mostOfRun = mostOfRun;
  }

  /** Takes a place. Throws Problem `busy` when all are taken, or the run has its share. */
  enter(run: string): HeldBody {
    const held = { ofAll: this.#taken, ofOne: this.#takenOf.get(run) ?? 0 };
    if (!leavesHalf(held, { max: this.#most, ofOneMax: this.#mostOfRun })) {
      throw new Problem(503, "busy", "too many requests are in progress; try again");
    }
    this.#count(run, 1);
    return new HeldBody(() => this.#count(run, -1));
  }

  #count(run: string, change: 1 | -1): void {
    this.#taken += change;
    const now = (this.#takenOf.get(run) ?? 0) + change;
    if (now > 0) this.#takenOf.set(run, now);
    else this.#takenOf.delete(run);
  }
}
