import { expect, test } from "vitest";
import { commitHash, genesis, metaText, sha256Hex } from "./hash.ts";

const meta = metaText({
  // The attributes are in another order than the stored one.
  traceparent: "",
  authid: "u-1",
  causationid: "",
  correlationid: "c",
  workspace: "Größe",
  source: "/trainyard/metrics",
});
const type = (name: string): string => `dev.trainyard.${name}.v1`;

test("the attributes of a commit keep their stored text", () => {
  expect(meta).toBe(
    '{"source":"/trainyard/metrics","workspace":"Größe","correlationid":"c","causationid":"","authid":"u-1","traceparent":""}',
  );
});

/**
 * Hashes computed by another program from the format's description. They must never change: every stored log depends on
 * them.
 */
test("commit hashes keep their format", () => {
  const first = commitHash(genesis, {
    position: 2,
    timeMs: 1_700_000_000_000,
    commitId: "018f0000-0000-7000-8000-000000000001",
    meta,
    cursor: null,
    events: [
      {
        stream: "trial-1.1",
        version: 1,
        id: "018f0000-0000-7000-8000-00000000000a",
        type: type("trial.RunStarted"),
        bodySha256: sha256Hex("{}"),
      },
      {
        stream: "trial-1.1",
        version: 2,
        id: "018f0000-0000-7000-8000-00000000000b",
        type: type("trial.RunEnded"),
        bodySha256: sha256Hex('{"text":"größer → \\u0000"}'),
      },
    ],
  });
  expect(Buffer.from(first).toString("hex")).toBe(
    "62bfc332539da1126638dc1a3803a65bc4ae50ac56e1c5935388cd7138f1157c",
  );
  const second = commitHash(first, {
    position: 3,
    timeMs: 1_700_000_000_001,
    commitId: "018f0000-0000-7000-8000-000000000002",
    meta,
    cursor: { consumer: "experiments", partition: 2, position: 41, part: 1 },
    events: [
      {
        stream: "search-ä",
        version: 1,
        id: "018f0000-0000-7000-8000-00000000000c",
        type: type("search.SearchStarted"),
        bodySha256: sha256Hex("{}"),
      },
    ],
  });
  expect(Buffer.from(second).toString("hex")).toBe(
    "b1e57c35c523fda32fb7a2453c4dd9e59f5954ab894c11db4d52fdcbc7731238",
  );
});
