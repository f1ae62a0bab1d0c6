import type { LogPolicy } from "@trainyard/experiment-config/recorded";
import type { Logger, Registry } from "@trainyard/runtime";
import { Counter } from "prom-client";

/** The service's telemetry: one function per event. */
export type Telemetry = {
  /** Counts acknowledged lines; `repeats` are those that had been stored before. */
  taken(stored: number, repeats: number): void;
  /** Counts a batch without valid tokens for its runs. */
  unproven(): void;
  /** Counts a line that matched a log policy; `action` is empty for a policy that only records matches. */
  matched(action: string): void;
  /** Reports lines that were not compared with log policies or patterns of webhooks because that took too long. */
  unmatched(node: string, lines: number): void;
  /** Counts a line that matched the pattern of a webhook. */
  webhookMatched(): void;
  /** Warns that the recorded pattern of a webhook is off because it is invalid. */
  webhookOff(webhook: string, pattern: string, problem: string): void;
  /** Warns that a recorded policy is off because its pattern is invalid. */
  policyOff(experiment: string, policy: LogPolicy, problem: string): void;
};

export function createTelemetry(registry: Registry, logger: Logger): Telemetry {
  const registers = [registry];
  const stored = new Counter({
    name: "trainyard_logs_lines_stored_total",
    help: "Lines that were stored",
    registers,
  });
  const repeated = new Counter({
    name: "trainyard_logs_lines_repeated_total",
    help: "Lines that an agent sent again and that were stored already",
    registers,
  });
  const unproven = new Counter({
    name: "trainyard_logs_batches_unproven_total",
    help: "Batches without the tokens of the runs whose lines they hold",
    registers,
  });
  const matched = new Counter({
    name: "trainyard_logs_policies_matched_total",
    help: "Log policies that a line matched, once for each node of a run",
    labelNames: ["action"],
    registers,
  });
  const ofWebhooks = new Counter({
    name: "trainyard_logs_webhook_patterns_matched_total",
    help: "Patterns of webhooks that a line matched, once for each node of a run",
    registers,
  });
  const unmatched = new Counter({
    name: "trainyard_logs_lines_unmatched_total",
    help: "Lines that were not compared with log policies or patterns of webhooks, because that took too long",
    registers,
  });
  return {
    matched: (action) => matched.inc({ action: action === "" ? "none" : action }),
    unmatched(node, lines) {
      unmatched.inc(lines);
      logger.warn({ node, lines }, "lines_not_compared_with_log_policies");
    },
    webhookMatched: () => ofWebhooks.inc(),
    webhookOff: (webhook, pattern, problem) =>
      logger.warn({ webhook, pattern, problem }, "webhook_pattern_not_compared"),
    policyOff: (experiment, { name, pattern }, problem) =>
      logger.warn({ experiment, policy: name, pattern, problem }, "log_policy_not_compared"),
    unproven: () => unproven.inc(),
    taken(storedNow, repeatsNow) {
      stored.inc(storedNow);
      repeated.inc(repeatsNow);
    },
  };
}
