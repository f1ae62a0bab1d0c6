import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { TestRegistry } from "./testing/test-registry.ts";

let registry: TestRegistry;

beforeAll(async () => {
  registry = await TestRegistry.start();
});
afterAll(() => registry[Symbol.asyncDispose]());

const rejectedAs = (code: string) => ({ kind: "rejected", rejection: { rejected: code } });

/** A busy machine may answer first that verification is still running. */
async function completed(...given: Parameters<TestRegistry["complete"]>) {
  return vi.waitFor(
    async () => {
      const answer = await registry.complete(...given);
      if (answer.kind === "unavailable") throw new Error("being verified");
      return answer;
    },
    { timeout: 90_000, interval: 50 },
  );
}

describe("a checkpoint", () => {
  test("completes after its files were read ahead, without further events", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "w", small: "s" });
    const begun = await registry.readAhead(checkpoint, trial, ["weights", "missing"]);
    expect(begun).toMatchObject({ kind: "ok", reply: { files: 2 } });
    const answer = await completed(checkpoint, trial, manifest);
    expect(answer).toMatchObject({ kind: "ok" });
    const names = ["CheckpointDeclared", "CheckpointCompleted"];
    expect(await registry.names(checkpoint)).toEqual(names);
  });

  test("fails if a file has changed since it was read ahead, naming the file", async () => {
    const trial = await registry.newTrial();
    const { checkpoint } = await registry.declare(trial);
    const manifest = await registry.write(checkpoint, { weights: "0123456789" });
    await registry.readAhead(checkpoint, trial, ["weights"]);
    await registry.write(checkpoint, { weights: "012345678X" });
    const answer = await completed(checkpoint, trial, manifest);
    expect(answer).toMatchObject({ rejection: { problems: [{ path: "weights" }] } });
  });

  test("is read ahead only for the newest run, and only with paths inside its folder", async () => {
    const trial = await registry.newTrial();
    const checkpoint = randomUUID();
    const ask = (of: string, paths: readonly string[], run?: number) =>
      registry.readAhead(of, trial, paths, run);
    expect(await ask(checkpoint, ["weights"], 2)).toMatchObject(rejectedAs("run_not_found"));
    expect(await ask("../x", ["weights"])).toMatchObject(rejectedAs("invalid_request"));
    const many = Array.from({ length: 101 }, (_, at) => `f${at}`);
    for (const paths of [["../secret"], ["/etc/passwd"], ["a//b"], many]) {
      expect(await ask(checkpoint, paths)).toMatchObject(rejectedAs("invalid_request"));
    }
    expect(await ask(checkpoint, ["weights"])).toMatchObject({ kind: "ok", reply: { files: 1 } });
    const [own, others] = [
      await registry.stored(trial),
      await registry.stored(await registry.newTrial()),
    ];
    expect(await ask(own.checkpoint, ["weights"])).toMatchObject({ reply: { files: 0 } });
    expect(await ask(others.checkpoint, ["weights"])).toMatchObject(rejectedAs("not_your_run"));
  });
});
