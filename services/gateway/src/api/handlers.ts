import type { Backend } from "../backend.ts";
import type { GatewayConfig } from "../config.ts";
import type { Handlers } from "../http/request-context.ts";
import type { PositionSignal } from "../live/position-signal.ts";
import { analysisHandlers } from "./analysis/analysis.ts";
import { searchPictureHandlers } from "./analysis/search-picture.ts";
import { checkpointHandlers } from "./checkpoints/checkpoints.ts";
import { agentHandlers } from "./cluster/agents.ts";
import { clusterHandlers } from "./cluster/cluster.ts";
import { codeHandlers } from "./code/code.ts";
import { comparisonHandlers } from "./comparison/comparison.ts";
import { eventHandlers } from "./events/events.ts";
import { experimentLifeHandlers } from "./experiment-life/experiment-life.ts";
import { experimentHandlers } from "./experiments/experiments.ts";
import { jobHandlers } from "./jobs/jobs.ts";
import { followedLines, logHandlers } from "./logs/trial-logs.ts";
import { metricStreamHandlers } from "./metric-stream/metric-stream.ts";
import { type AnswersDoor, metricHandlers } from "./metrics/trial-metrics.ts";
import { modelHandlers } from "./models/models.ts";
import { peopleHandlers } from "./people-handlers.ts";
import { poolHandlers } from "./pools/pools.ts";
import { profileHandlers } from "./profile/profile.ts";
import { retentionHandlers } from "./retention/retention.ts";
import { runHandlers } from "./runs/runs.ts";
import { searchHandlers } from "./search/searches.ts";
import type { Door } from "./sessions/sessions.ts";
import { withWholeCheckpointIds } from "./short-checkpoint-ids.ts";
import { storageHandlers } from "./storages/storages.ts";
import { subscriptionHandlers } from "./subscriptions/subscriptions.ts";
import { submissionHandlers } from "./submissions/submissions.ts";
import type { TaskSessions } from "../task-pages/task-sessions.ts";
import type { Tunnels } from "../tunnels/tunnels.ts";
import { taskSessionHandlers } from "./tasks/task-sessions.ts";
import { taskUseHandlers } from "./tasks/task-use.ts";
import { taskHandlers } from "./tasks/tasks.ts";
import { BoardPlaces } from "./tensorboard/board-places.ts";
import { tensorBoardHandlers } from "./tensorboard/tensorboard.ts";
import { viewHandlers } from "./views/views.ts";
import { watchHandlers } from "./watch/watch.ts";
import { workspaceHandlers } from "./workspaces/workspaces.ts";

type HandlersConfig = Pick<
  GatewayConfig,
  "checkpointDir" | "checkpointStorage" | "taskDomain" | "redisUrl" | "oidc"
>;

/** Returns the handlers of all calls of the public API. */
export function apiHandlers(
  backend: Backend,
  moved: PositionSignal,
  door: Door &
    AnswersDoor & {
      readonly taskSessions: TaskSessions;
      readonly tunnels: Pick<Tunnels, "open">;
    },
  config: HandlersConfig,
): Handlers {
  const { checkpointDir, checkpointStorage } = config;
  const cluster = clusterHandlers(backend, config.oidc);
  const events = eventHandlers(backend);
  const lines = followedLines(backend, moved);
  const logs = logHandlers(backend, lines);
  const tasks = taskHandlers(backend, lines, checkpointStorage);
  const taskSessions = taskSessionHandlers(backend, door.taskSessions, config.taskDomain);
  const searches = searchHandlers(backend, moved);
  const checkpoints = checkpointHandlers(backend, checkpointStorage);
  const models = modelHandlers(backend);
  const watches = watchHandlers(backend);
  const submissions = submissionHandlers(backend);
  const places = new BoardPlaces(backend, checkpointDir);
  const profiles = profileHandlers(backend, places);
  const boards = tensorBoardHandlers(backend, places);
  return withWholeCheckpointIds(backend, {
    unary: {
      ...experimentHandlers(backend, checkpointStorage),
      ...experimentLifeHandlers(backend),
      ...codeHandlers(backend),
      ...metricHandlers(backend, door, config),
      ...comparisonHandlers(backend),
      ...profiles.unary,
      ...boards.unary,
      ...runHandlers(backend, moved),
      ...logs.unary,
      ...tasks.unary,
      ...taskSessions.unary,
      ...taskUseHandlers(backend, door.tunnels).unary,
      ...checkpoints.unary,
      ...models.unary,
      ...submissions.unary,
      ...retentionHandlers(backend),
      ...storageHandlers(backend),
      ...searches.unary,
      ...cluster.unary,
      ...events.unary,
      ...subscriptionHandlers(backend),
      ...agentHandlers(backend),
      ...poolHandlers(backend),
      ...jobHandlers(backend),
      ...analysisHandlers(backend),
      ...searchPictureHandlers(backend),
      ...viewHandlers(backend),
      ...workspaceHandlers(backend),
      ...peopleHandlers(backend, door),
    },
    streams: {
      ...logs.streams,
      ...tasks.streams,
      ...searches.streams,
      ...cluster.streams,
      ...events.streams,
      ...watches.streams,
      ...metricStreamHandlers(backend, moved).streams,
    },
    raw: { ...checkpoints.raw, ...models.raw, ...submissions.raw, ...profiles.raw, ...boards.raw },
  });
}
