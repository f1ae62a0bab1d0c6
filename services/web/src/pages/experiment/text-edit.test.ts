import { ApiError, Unreachable } from "@trainyard/client";
import { expect, test } from "vitest";
import { TextEdit } from "./text-edit.ts";

const problem = { type: "", title: "", detail: "", instance: "", code: "", errors: [] };
const failure = (status: number) => new ApiError({ ...problem, status });
const begun = { etag: '"1"', labels: ["a", "old"] };
const latest = { etag: '"2"', labels: ["a", "old", "theirs"] };

test("only a refusal of an outdated text lets the next attempt overwrite a newer one", () => {
  const edit = new TextEdit(begun);
  const failures = [failure(503), new Unreachable("gone"), failure(412), failure(500)];
  const sent = failures.map((error) => {
    const request = edit.request("name", " mine ", latest);
    return [request?.change, request?.ifMatch, edit.isOutdatedBy(error)];
  });
  expect(sent).toEqual([
    [{ name: "mine" }, '"1"', false],
    [{ name: "mine" }, '"1"', false],
    [{ name: "mine" }, '"1"', true],
    [{ name: "mine" }, '"2"', false],
  ]);
  expect(edit.request("name", "mine", latest)?.ifMatch).toBe('"2"');
});

test("labels that another person added since the editing began stay", () => {
  const edit = new TextEdit(begun);
  edit.isOutdatedBy(failure(412));
  expect(edit.request("labels", "a, new", latest)).toEqual({
    change: { addLabels: ["new"], removeLabels: ["old"] },
    ifMatch: '"2"',
  });
  expect(edit.request("labels", "a, old", latest)).toBeNull();
});
