import { expect, test } from "vitest";
import { OpenStreams } from "./open-streams.ts";

test("streams are limited per caller and in total, and a closed stream makes room", () => {
  const streams = new OpenStreams({ ofOneMax: 2, ofAllMax: 3 });
  const first = streams.open("ada");
  streams.open("ada");
  expect(() => streams.open("ada")).toThrow("one caller has at most 2 such streams");
  streams.open("grace");
  expect(() => streams.open("alan")).toThrow("a gateway has at most 3 such streams");
  first[Symbol.dispose]();
  streams.open("alan");
  expect(() => streams.open("ada")).toThrow("a gateway has at most 3 such streams");
});
