import { expect, test } from "vitest";
import { OpenStreams } from "./open-streams.ts";

test("streams are limited per caller and in total, and a closed stream makes room", () => {
  const streams = new OpenStreams({ ofOneMax: 2, ofAllMax: 4 });
  const first = streams.open("ada");
  streams.open("ada");
  expect(() => streams.open("ada")).toThrow("one caller has at most 2 such streams");
  streams.open("grace");
  streams.open("edith");
  expect(() => streams.open("alan")).toThrow("a gateway has at most 4 such streams");
  first[Symbol.dispose]();
  streams.open("alan");
  expect(() => streams.open("ada")).toThrow("a gateway has at most 4 such streams");
});

test("a caller takes at most half of the places that the others leave", () => {
  const streams = new OpenStreams({ ofOneMax: 4, ofAllMax: 4 });
  streams.open("ada");
  streams.open("ada");
  expect(() => streams.open("ada")).toThrow("one caller half of those that others leave");
  streams.open("grace");
  expect(() => streams.open("grace")).toThrow("one caller half of those that others leave");
  streams.open("alan");
});
