import { createHmac } from "node:crypto";
import { encodeEvent } from "@trainyard/contracts";
import type { AnyEvent } from "@trainyard/contracts";
import { LeavingEvent } from "@trainyard/outbound";
import { serviceMeta } from "@trainyard/runtime";
import { HTTP } from "cloudevents";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { describe, expect, test } from "vitest";
import { formats } from "./formats.ts";

const id = "0193c5a0-0000-7000-8000-000000000001";
const nowMs = 1_790_000_000_000;

function leaving(stream: string, event: AnyEvent): LeavingEvent {
  const stored = {
    ...{ position: 12, stream, version: 3, id, timeMs: nowMs, commitId: id },
    meta: serviceMeta("experiments"),
    ...encodeEvent(event),
  };
  return new LeavingEvent(stored, "e1");
}

const alert = (title: string, text: string): LeavingEvent =>
  leaving("measurement-1.2", {
    type: "AlertRaised",
    data: { trial: "1.2", run: 1, title, text, level: 4, reportKey: "0-1" },
  });
const ended = leaving("experiment-1", {
  type: "ExperimentEnded",
  data: { outcome: 3, reason: "a trial failed" },
});

const requestOf = (name: string, event: LeavingEvent, secrets: readonly string[] = []) => {
  const format = formats[name];
  if (format === undefined) throw new Error(name);
  return format.requestOf(event, { secrets, nowMs: Date.now() });
};

describe("standard", () => {
  const [first, second] = [
    formats["standard"]?.newSecret() ?? "",
    formats["standard"]?.newSecret() ?? "",
  ];

  test("each of two secrets verifies the request, and no other does", () => {
    const { headers, body } = requestOf("standard", ended, [first, second]);
    for (const secret of [first, second]) {
      expect(new Webhook(secret).verify(body, headers)).toMatchObject({ id });
    }
    const other = formats["standard"]?.newSecret() ?? "";
    expect(() => new Webhook(other).verify(body, headers)).toThrow(/signature/i);
    expect(headers["webhook-id"]).toBe(id);
  });

  test("the body is a CloudEvent in structured mode", () => {
    const { headers, body } = requestOf("standard", ended, [first]);
    const event = HTTP.toEvent({ headers, body });
    expect(event).toMatchObject({
      ...{ id, specversion: "1.0", subject: "experiment-1", sequence: "12", epoch: "e1" },
      type: "dev.trainyard.experiment.ExperimentEnded.v1",
      data: { outcome: "EXPERIMENT_OUTCOME_FAILED", reason: "a trial failed" },
    });
  });

  test.each(["", "abc", "whsec_", "whsec_AAAA", "whsec_%%%"])(
    "the secret %j is refused",
    (secret) => {
      expect(formats["standard"]?.checkSecret(secret)).toMatch(/^the secret must be whsec_/);
    },
  );
});

test("Determined's signature is over timestamp, comma and body", () => {
  const { headers, body } = requestOf("determined", ended, ["key", "old"]);
  const timestamp = headers["x-determined-ai-signature-timestamp"] ?? "";
  const expected = createHmac("sha256", "key").update(`${timestamp},${body}`).digest("hex");
  expect(headers["x-determined-ai-signature"]).toBe(expected);
  expect(JSON.parse(body)).toMatchObject({
    event_type: "EXPERIMENT_STATE_CHANGE",
    event_data: { experiment: { id: 1, state: "ERROR" } },
  });
});

describe("texts of training code in a chat", () => {
  const hostile = fc.stringMatching(
    /^(<!channel>|evil\.example|<@U123>|@everyone|@here|<https:\/\/evil\.example\|here>|https:\/\/evil\.example|\[a\]\(https:\/\/evil\.example\)|<#1>|[*_~`\\>&a-z ]){0,12}$/,
  );

  test("mention and link nobody in Slack", () => {
    fc.assert(
      fc.property(hostile, hostile, (title, text) => {
        const { body } = requestOf("slack", alert(title, text));
        const message = JSON.parse(body) as { text: string; blocks: { text: { type: string } }[] };
        expect(message.text).not.toMatch(/[<>]|:\/\//);
        expect(message.blocks.every((block) => block.text.type === "plain_text")).toBe(true);
        expect(body).not.toMatch(/:\/\/|@(everyone|here|U)|evil\.example/);
        expect(message).toMatchObject({ unfurl_links: false, unfurl_media: false });
      }),
    );
  });

  test("mention and link nobody in Discord", () => {
    fc.assert(
      fc.property(hostile, hostile, (title, text) => {
        const { body } = requestOf("discord", alert(title, text));
        const message = JSON.parse(body) as { content: string };
        expect(message.content).not.toMatch(
          /@(everyone|here)|evil\.example|:\/\/|(?<!\\)[<[\]*_~`]/,
        );
        expect(message).toMatchObject({ allowed_mentions: { parse: [] } });
      }),
    );
  });

  test("keep to the sizes of a message", () => {
    const long = "x@<".repeat(5_000);
    expect(requestOf("discord", alert(long, long)).body.length).toBeLessThan(4_000);
    expect(requestOf("slack", alert(long, long)).body.length).toBeLessThan(10_000);
  });
});

test("a webhook of a chat has no secret, and one of Determined has some", () => {
  expect(formats["slack"]?.checkSecret("")).toBeNull();
  expect(formats["discord"]?.newSecret()).toBe("");
  expect(formats["determined"]?.checkSecret("")).toBe("the secret must not be empty");
});

describe("the triggers of a webhook", () => {
  const line = { line: "CUDA out of memory", run: 2, agent: "gpu-7", nodeRank: 0, cursor: "9" };
  const matched = leaving("logsignal-12.3", {
    type: "LogPatternMatched",
    data: { subscription: "oom", ...line, pattern: "out of memory" },
  });
  const waited = leaving("subscription-slow", {
    type: "QueueWaitExceeded",
    data: { run: "12.3#1", experiment: "12", pool: "a100", queuedAtMs: nowMs, waitMs: 600_000 },
  });

  test("are sentences in a chat", () => {
    expect(JSON.parse(requestOf("slack", matched).body)).toMatchObject({
      text: "A log line of 12.3 matches out of memory",
      blocks: [{}, { text: { text: "CUDA out of memory\nRun 2 on gpu-7" } }],
    });
    expect(JSON.parse(requestOf("slack", waited).body)).toMatchObject({
      text: "Run 12.3#1 has waited for its slots for longer than 10 min",
      blocks: [{}, { text: { text: "Pool a100" } }],
    });
  });

  test("a matched line has Determined's payload", () => {
    expect(JSON.parse(requestOf("determined", matched, ["key"]).body)).toMatchObject({
      event_type: "TASK_LOG",
      condition: { regex: "out of memory" },
      event_data: {
        task_log: {
          ...{ task_id: "12.3", node_name: "gpu-7", triggering_log: "CUDA out of memory" },
        },
      },
    });
  });
});
