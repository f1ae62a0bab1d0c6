import { expect, test } from "vitest";
import { OpenTopics } from "./open-topics.ts";

test("topics are limited per caller and in total, and a caller's repeated topic counts once", () => {
  const topics = new OpenTopics({ ofOneMax: 2, ofAllMax: 3 });
  const first = topics.open("ada", ["a", "b"]);
  const again = topics.open("ada", ["b", "b"]);
  expect(() => topics.open("ada", ["c"])).toThrow("one caller watches at most 2 distinct topics");
  topics.open("grace", ["a"]);
  expect(() => topics.open("grace", ["c"])).toThrow(
    "a gateway has at most 3 topics that are watched",
  );
  first[Symbol.dispose]();
  // The other stream of the caller still has topic b.
  topics.open("ada", ["c"]);
  expect(() => topics.open("ada", ["d"])).toThrow("one caller watches at most 2 distinct topics");
  again[Symbol.dispose]();
  topics.open("ada", ["d"]);
});
