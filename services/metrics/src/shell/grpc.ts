/** The gRPC interface: reports of runs, as one call for each batch or as a stream with acknowledgements. */
import { codecOf, type Plain } from "@trainyard/contracts";
import {
  ReportService,
  type RunReport,
  type StreamReportsRequest,
  type WriteReportsRequest,
  WriteReportsRequestSchema,
} from "@trainyard/contracts/api";
import { type Listening, type Logger, Problem, type Serving } from "@trainyard/runtime";
import { grpcService, pipelined, startGrpcServer } from "@trainyard/runtime/grpc";
import { metricsLimits } from "../limits.ts";
import { problemOf } from "./http.ts";
import { type Intake, type Reporter, requireRun, takeAll } from "./intake.ts";

const codec = codecOf<Plain<WriteReportsRequest>>(WriteReportsRequestSchema);

export function startGrpc(
  deps: { readonly intake: Intake; readonly logger: Logger },
  { readiness, draining }: Serving,
  address: { readonly host: string; readonly port: number },
): Promise<Listening> {
  const { intake, logger } = deps;
  const calls = new Room(metricsLimits.grpcCallsMax);
  const streams = new Room(metricsLimits.grpcStreamsMax);
  const reports = grpcService<typeof ReportService, Reporter>(ReportService, {
    writeReports: async (request, { caller }) => {
      requireRun(caller, request.run);
      using _place = calls.enter();
      return await takeAll(intake, caller, codec.toJson(request));
    },
    streamReports: async function* (requests, { caller }) {
      using _place = streams.enter();
      yield* pipelined(requests, metricsLimits.streamBatchesMax, (request) =>
        takeBatch(intake, caller, request),
      );
    },
  });
  return startGrpcServer(
    {
      services: [reports],
      admit: async (_, authorization) => intake.authorize(authorization),
      problemOf: (error) => problemOf(error, logger),
      readiness,
      draining,
      messageBytesMax: metricsLimits.requestBytesMax,
    },
    address,
  );
}

async function takeBatch(
  intake: Intake,
  reporter: Reporter,
  { batch, reports }: Plain<StreamReportsRequest>,
) {
  const { stored, superseded, refused } = await intake.take(reporter, asJson(reporter.id, reports));
  return { batch, accepted: stored, refused: [...refused], superseded };
}

const asJson = (run: string, reports: readonly Plain<RunReport>[]) =>
  codec.toJson({ run, reports, refuseAlone: true });

/**
 * Limits the number of concurrent calls. A message is in memory before its call is handled, so the number of calls is
 * what bounds the memory.
 */
class Room {
  readonly #most: number;
  #taken = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** Takes a place. Throws Problem `busy` when all are taken. */
  enter(): Disposable {
    if (this.#taken >= this.#most) {
      throw new Problem(503, "busy", "too many requests are in progress; try again");
    }
    this.#taken += 1;
    return { [Symbol.dispose]: () => void (this.#taken -= 1) };
  }
}
