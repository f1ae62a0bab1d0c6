import { expect, test } from "vitest";
import { OpenStreams } from "./open-streams.ts";

const topics = { topicsOfOneMax: 2, topicsOfAllMax: 3 };

test("streams are limited per caller and in total, and a closed stream makes room", () => {
  const streams = new OpenStreams({ ofOneMax: 2, ofAllMax: 3, ...topics });
  const first = streams.open("ada");
  streams.open("ada");
  expect(() => streams.open("ada")).toThrow("one caller has at most 2 such streams");
  streams.open("grace");
  expect(() => streams.open("alan")).toThrow("a gateway has at most 3 such streams");
  first[Symbol.dispose]();
  streams.open("alan");
  expect(() => streams.open("ada")).toThrow("a gateway has at most 3 such streams");
});

test("topics are limited per caller and in total, and a caller's repeated topic counts once", () => {
  const streams = new OpenStreams({ ofOneMax: 9, ofAllMax: 9, ...topics });
  for (const caller of ["ada", "ada", "grace"]) streams.open(caller);
  const first = streams.openTopics("ada", ["a", "b"]);
  const again = streams.openTopics("ada", ["b", "b"]);
  expect(() => streams.openTopics("ada", ["c"])).toThrow(
    "one caller watches at most 2 distinct topics",
  );
  streams.openTopics("grace", ["a"]);
  expect(() => streams.openTopics("grace", ["c"])).toThrow(
    "a gateway has at most 3 topics that are watched",
  );
  first[Symbol.dispose]();
  // The other stream of the caller still has topic b.
  streams.openTopics("ada", ["c"]);
  expect(() => streams.openTopics("ada", ["d"])).toThrow(
    "one caller watches at most 2 distinct topics",
  );
  again[Symbol.dispose]();
  streams.openTopics("ada", ["d"]);
});
