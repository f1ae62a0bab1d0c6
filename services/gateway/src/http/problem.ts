import type { Rejection } from "@trainyard/kernel";
import { Problem } from "@trainyard/runtime";

export { Problem };

/** The HTTP statuses of rejection codes. A code without a status is a conflict, 409. */
const statusOfCode: Readonly<Record<string, number>> = {
  invalid_config: 400,
  invalid_request: 400,
  invalid_context: 400,
  invalid_checkpoint: 400,
  invalid_manifest: 400,
  invalid_hyperparameters: 400,
  config_too_large: 413,
  context_too_large: 413,
  too_large: 413,
  experiment_not_found: 404,
  trial_not_found: 404,
  task_not_found: 404,
  checkpoint_not_found: 404,
  token_not_found: 404,
  user_not_found: 404,
  group_not_found: 404,
  role_not_found: 404,
  grant_not_found: 404,
  no_such_permission: 400,
  pin_not_found: 404,
  context_not_found: 404,
  view_not_found: 404,
  workspace_not_found: 404,
  project_not_found: 404,
  not_found: 404,
  agent_unknown: 404,
  slot_unknown: 404,
  pool_not_found: 404,
  model_not_found: 404,
  version_not_found: 404,
  alias_not_found: 404,
  metric_not_found: 404,
  invalid_pool: 400,
  position_gone: 410,
  position_unknown: 410,
  invalid_filter: 400,
  subscription_not_found: 404,
  delivery_not_found: 404,
  search_unknown: 404,
  trial_unknown: 404,
  stale_revision: 412,
  run_superseded: 409,
  run_unheard: 425,
  storage_not_known: 425,
  not_your_folder: 403,
  not_your_run: 403,
  operation_id_reused: 422,
  internal: 500,
};

export function problemOf(rejection: Rejection): Problem {
  const status = statusOfCode[rejection.rejected] ?? 409;
  return new Problem(status, rejection.rejected, rejection.detail, rejection);
}

export function unavailable(detail: string): Problem {
  return new Problem(503, "unavailable", detail);
}

export function userDisabled(): Problem {
  return new Problem(401, "user_disabled", "this user is disabled: ask an admin");
}

export function notFound(what: string, id: string): Problem {
  return new Problem(404, `${what}_not_found`, `there is no ${what} ${id}`);
}

export function notFoundAt(what: string, path: string): Problem {
  return new Problem(404, "no_such_path", `nothing is served as ${what} at ${path}`);
}
