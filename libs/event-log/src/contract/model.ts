/**
 * Compares random commits with a small model of versions, cursor and commit ids. The appends of a group apply in the
 * order of their calls.
 */
import fc from "fast-check";
import { expect, it } from "vitest";
import type { AppendRequest } from "../port.ts";
import type { ContractHarness } from "./harness.ts";
import { collect, everything, newCommitId, requestOf, writeOf } from "./harness.ts";

const streams = ["experiment-1", "experiment-2", "trial-1.1", "trial-1.2"] as const;

/** A random commit: versions are offsets from the model's, so that both commits and conflicts are frequent. */
const commitArbitrary = fc.record({
  writes: fc.uniqueArray(
    fc.record({
      stream: fc.constantFrom(...streams),
      off: fc.constantFrom(0, 0, 0, 0, 0, 1),
      count: fc.integer({ min: 1, max: 3 }),
    }),
    { selector: ({ stream }) => stream, minLength: 1, maxLength: 3 },
  ),
  guard: fc.option(
    fc.record({ stream: fc.constantFrom(...streams), off: fc.constantFrom(0, 0, 1) }),
  ),
  cursor: fc.option(
    fc.record({ advance: fc.constantFrom(1, 1, 0), part: fc.integer({ min: 0, max: 1 }) }),
  ),
  /** Repeats an earlier commit instead. */
  repeat: fc.option(fc.nat(), { freq: 6 }),
});
type Drawn = typeof commitArbitrary extends fc.Arbitrary<infer Value> ? Value : never;

class Model {
  readonly versions = new Map<string, number>();
  readonly events: string[] = [];
  readonly committed: AppendRequest[] = [];
  cursor = { position: 0, part: 0 };

  version(stream: string): number {
    return this.versions.get(stream) ?? 0;
  }

  /** Applies a commit to the model and returns its outcome. */
  append(request: AppendRequest): string {
    if (this.committed.some(({ commitId }) => commitId === request.commitId)) return "repeated";
    const { cursor } = request;
    if (cursor !== undefined && cursor.position > this.events.length) return "refused";
    const now = this.cursor;
    if (
      cursor !== undefined &&
      (cursor.position < now.position ||
        (cursor.position === now.position && cursor.part <= now.part))
    ) {
      return "cursor_behind";
    }
    const checks = [...request.writes, ...request.guards];
    if (checks.some((check) => this.version(check.stream) !== check.expectedVersion)) {
      return "conflict";
    }
    for (const { stream, events } of request.writes) {
      this.versions.set(stream, this.version(stream) + events.length);
      this.events.push(...events.map(({ id }) => id));
    }
    if (cursor !== undefined) this.cursor = { position: cursor.position, part: cursor.part };
    this.committed.push(request);
    return "committed";
  }
}

function requestFor(drawn: Drawn, model: Model): AppendRequest {
  const earlier = model.committed[(drawn.repeat ?? 0) % Math.max(1, model.committed.length)];
  if (drawn.repeat !== null && earlier !== undefined) return earlier;
  const writes = drawn.writes.map(({ stream, off, count }) =>
    writeOf(stream, model.version(stream) + off, count),
  );
  const { guard, cursor } = drawn;
  return requestOf(writes, {
    commitId: newCommitId(),
    guards:
      guard === null
        ? []
        : [{ stream: guard.stream, expectedVersion: model.version(guard.stream) + guard.off }],
    ...(cursor !== null && {
      cursor: {
        consumer: "experiments",
        partition: 0,
        position: model.cursor.position + cursor.advance,
        part: cursor.part,
      },
    }),
  });
}

export function modelContract(harness: ContractHarness): void {
  it("decides every random commit like the model", async () => {
    const groups = fc.array(fc.array(commitArbitrary, { minLength: 1, maxLength: 6 }), {
      minLength: 1,
      maxLength: 8,
    });
    const property = fc.asyncProperty(groups, async (drawnGroups) => {
      await using subject = await harness.create();
      const log = subject.as("ty_experiments");
      const model = new Model();
      for (const group of drawnGroups) {
        const expected: string[] = [];
        const asked = group.map((drawn) => {
          const request = requestFor(drawn, model);
          expected.push(model.append(request));
          return log.append(request);
        });
        const outcomes = (await Promise.all(asked)).map((result) =>
          result.kind === "committed" && result.repeated ? "repeated" : result.kind,
        );
        expect(outcomes).toEqual(expected);
      }
      const stored = await everything(log);
      expect(stored.map(({ id }) => id)).toEqual(model.events);
      expect(stored.map(({ position }) => position)).toEqual(stored.map((_, index) => index + 1));
      expect(await log.cursor("experiments", 0)).toEqual(model.cursor);
      expect(await collect(log.verify(0))).toEqual([]);
    });
    await fc.assert(property, { numRuns: 30 });
  });
}
