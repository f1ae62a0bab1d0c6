/**
 * The payload and the signature of Determined's webhooks, for receivers that were written for it: the state of an
 * experiment, a matched log line and an alert of training code, each with its type and its own part.
 */
import { createHmac, randomBytes } from "node:crypto";
import type { LeavingEvent } from "@trainyard/outbound";
import type { WebhookFormat } from "../format.ts";

export const determined: WebhookFormat = {
  requestOf: (event, { secrets, nowMs }) => {
    const timestamp = String(Math.floor(nowMs / 1_000));
    const body = JSON.stringify(payloadOf(event, nowMs));
    // Determined has one signature: that of the newest secret.
    const signature = createHmac("sha256", secrets[0] ?? "")
      .update(`${timestamp},${body}`)
      .digest("hex");
    return {
      headers: {
        "content-type": "application/json; charset=utf-8",
        "webhook-id": event.stored.id,
        "x-determined-ai-signature-timestamp": timestamp,
        "x-determined-ai-signature": signature,
      },
      body,
    };
  },
  checkSecret: (secret) => (secret === "" ? "the secret must not be empty" : null),
  newSecret: () => randomBytes(32).toString("hex"),
};

function payloadOf(event: LeavingEvent, nowMs: number): object {
  const { name, data, stored } = event;
  const shared = {
    event_id: stored.id,
    timestamp: Math.floor(nowMs / 1_000),
  };
  if (name === "ExperimentEnded") {
    const state = stateOf(String(data["outcome"] ?? ""));
    return {
      ...shared,
      event_type: "EXPERIMENT_STATE_CHANGE",
      condition: { state },
      event_data: { experiment: { id: Number(event.experiment), state } },
    };
  }
  if (name === "LogPatternMatched") {
    const task = stored.stream.slice("logsignal-".length);
    return {
      ...shared,
      event_type: "TASK_LOG",
      condition: { regex: data["pattern"] },
      event_data: {
        task_log: { task_id: task, node_name: data["agent"], triggering_log: data["line"] },
      },
    };
  }
  if (name === "AlertRaised") {
    const { title, text: description, level } = data;
    const shownLevel = String(level ?? "")
      .replace("ALERT_LEVEL_", "")
      .toLowerCase();
    return {
      ...shared,
      event_type: "CUSTOM",
      condition: {},
      event_data: {
        custom_trigger: { title, description, level: shownLevel },
        experiment: { id: Number(event.experiment) },
        trial_id: data["trial"],
      },
    };
  }
  return { ...shared, event_type: name, condition: {}, event_data: data };
}

function stateOf(outcome: string): string {
  const state = outcome.replace("EXPERIMENT_OUTCOME_", "");
  return state === "FAILED" ? "ERROR" : state;
}
