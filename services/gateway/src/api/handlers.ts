import type { GatewayConfig } from "../config.ts";
import type { Handlers } from "../http/request-context.ts";
import type { Backend } from "../shell/backend.ts";
import type { PositionSignal } from "../shell/position-signal.ts";
import { agentHandlers } from "./agents.ts";
import { analysisHandlers } from "./analysis.ts";
import { checkpointHandlers } from "./checkpoints.ts";
import { clusterHandlers } from "./cluster.ts";
import { codeHandlers } from "./code.ts";
import { experimentLifeHandlers } from "./experiment-life.ts";
import { experimentHandlers } from "./experiments.ts";
import { jobHandlers } from "./jobs.ts";
import { metricStreamHandlers } from "./metric-stream.ts";
import { modelHandlers } from "./models.ts";
import { poolHandlers } from "./pools.ts";
import { profileHandlers } from "./profile.ts";
import { retentionHandlers } from "./retention.ts";
import { runHandlers } from "./runs.ts";
import { searchHandlers } from "./searches.ts";
import { searchPictureHandlers } from "./search-picture.ts";
import { type Door, sessionHandlers } from "./sessions.ts";
import { storageHandlers } from "./storages.ts";
import { submissionHandlers } from "./submissions.ts";
import { logHandlers } from "./trial-logs.ts";
import { metricHandlers } from "./trial-metrics.ts";
import { viewHandlers } from "./views.ts";
import { watchHandlers } from "./watch.ts";
import { workspaceHandlers } from "./workspaces.ts";

/** Returns the handlers of all calls of the public API. */
export function apiHandlers(
  backend: Backend,
  moved: PositionSignal,
  door: Door,
  { checkpointDir, checkpointStorage }: Pick<GatewayConfig, "checkpointDir" | "checkpointStorage">,
): Handlers {
  const cluster = clusterHandlers(backend, moved);
  const logs = logHandlers(backend);
  const searches = searchHandlers(backend, moved);
  const checkpoints = checkpointHandlers(backend, checkpointStorage);
  const models = modelHandlers(backend);
  const watches = watchHandlers(backend);
  const submissions = submissionHandlers(backend);
  const profiles = profileHandlers(backend, checkpointDir);
  return {
    unary: {
      ...experimentHandlers(backend, checkpointStorage),
      ...experimentLifeHandlers(backend),
      ...codeHandlers(backend),
      ...metricHandlers(backend),
      ...profiles.unary,
      ...runHandlers(backend, moved),
      ...logs.unary,
      ...checkpoints.unary,
      ...models.unary,
      ...submissions.unary,
      ...retentionHandlers(backend),
      ...storageHandlers(backend),
      ...searches.unary,
      ...cluster.unary,
      ...agentHandlers(backend),
      ...poolHandlers(backend),
      ...jobHandlers(backend),
      ...analysisHandlers(backend),
      ...searchPictureHandlers(backend),
      ...viewHandlers(backend),
      ...workspaceHandlers(backend),
      ...sessionHandlers(backend, door),
    },
    streams: {
      ...logs.streams,
      ...searches.streams,
      ...cluster.streams,
      ...watches.streams,
      ...metricStreamHandlers(backend).streams,
    },
    raw: { ...checkpoints.raw, ...models.raw, ...submissions.raw, ...profiles.raw },
  };
}
