import { expect, test } from "vitest";
import { checkHeaders, checkSecret, checkSettings } from "./checks.ts";

const settings = { format: "", logPattern: "", namedOnly: false };
const problem = (changed: object) =>
  checkSettings(["standard", "slack"], "standard", { ...settings, ...changed })?.detail;

test("headers are merged by their lower-case names, and an empty one is removed", () => {
  const present = { authorization: "Bearer a", "x-team": "b" };
  expect(checkHeaders({ Authorization: "Bearer c", "X-Team": "", "x-new": "d" }, present)).toEqual({
    authorization: "Bearer c",
    "x-new": "d",
  });
});

test("a header is refused in one sentence that does not repeat its value", () => {
  const refused = [
    { "a b": "s3cret" },
    { "x-a": "s3cret\r\nx-b: c" },
    { Host: "s3cret" },
    { "content-type": "s3cret" },
    { "Webhook-Id": "s3cret" },
    Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`x-${i}`, "s3cret"])),
  ].map((headers) => checkHeaders(headers));
  expect(refused).toEqual([
    { rejected: "invalid_request", detail: '"a b" is not the name of a header' },
    {
      rejected: "invalid_request",
      detail: "the value of the header x-a must be one line of at most 4096 characters",
    },
    { rejected: "invalid_request", detail: "the header host is set by the platform" },
    { rejected: "invalid_request", detail: "the header content-type is set by the platform" },
    { rejected: "invalid_request", detail: "the header webhook-id is set by the platform" },
    { rejected: "invalid_request", detail: "a webhook has at most 32 headers of its own" },
  ]);
});

test("a format, a pattern and a wait are refused in one sentence", () => {
  expect(problem({ logPattern: "out of memory", queueWaitMs: 60_000 })).toBeUndefined();
  expect(checkSettings(["standard", "slack"], "teams", undefined)?.detail).toBe(
    '"teams" is not a format of webhooks: it is one of standard, slack',
  );
  expect(problem({ logPattern: "(" })).toMatch(
    /^log_pattern must be a regular expression in RE2's syntax: /,
  );
  expect(problem({ queueWaitMs: 0 })).toBe("queue_wait_ms must be a duration above 0");
});

test("a secret is refused in one sentence that does not repeat it", () => {
  const format = {
    requestOf: () => ({ headers: {}, body: "" }),
    checkSecret: (secret: string) => (secret.length < 8 ? "the secret is too short" : null),
    newSecret: () => "",
  };
  const details = ["", "long enough", "short", "two\nlines", "a".repeat(257)].map(
    (secret) => checkSecret(format, secret)?.detail,
  );
  const line = "the secret must be one line of at most 256 characters";
  expect(details).toEqual([undefined, undefined, "the secret is too short", line, line]);
});
