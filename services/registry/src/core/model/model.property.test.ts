/** Random commands to a model and its checkpoints, decided like in the registry. */
import { fold, isRejection } from "@trainyard/kernel";
import fc from "fast-check";
import { expect, test } from "vitest";
import { evolveModel, initialModel } from "./evolve.ts";
import type { ModelCommand } from "./commands.ts";
import { modelDecider } from "./decide.ts";
import type { ModelEvent, ModelState } from "./state.ts";
import { versionAt } from "./versions.ts";

const asked = { model: "m", by: "ada" };
const noChange = { addLabels: [], removeLabels: [] };
const version = fc.constantFrom("1", "2", "3", "4", "1.0.0", "1.1.0", "a", "b", "latest", "x y");
const alias = fc.constantFrom("a", "b", "c", "1", "latest");

const command: fc.Arbitrary<ModelCommand> = fc.oneof(
  fc.constant({ ...asked, kind: "create", words: noChange, workspace: "" } as const),
  fc
    .record({
      checkpoint: fc.constantFrom("c1", "c2", "c3", "c4", "c5"),
      semanticVersion: fc.constantFrom("", "", "1.0.0", "1.1.0"),
      createIn: fc.constantFrom("", null),
    })
    .map(({ createIn, ...more }) => {
      const registered = { trial: "1.1", run: 1, step: 1, metrics: {}, ...more };
      return { ...asked, kind: "register", registered, words: noChange, createIn } as const;
    }),
  version.map((one) => ({ ...asked, kind: "remove_version", version: one, reason: "" }) as const),
  fc.tuple(alias, version).map(([name, one]) => {
    return { ...asked, kind: "move_alias", alias: name, version: one, reason: "r" } as const;
  }),
  alias.map((name) => ({ ...asked, kind: "remove_alias", alias: name, reason: "" }) as const),
  fc.constantFrom(
    { ...asked, kind: "archive", reason: "" } as const,
    { ...asked, kind: "unarchive" } as const,
  ),
);

/** The pins of checkpoints, as the shell derives them from these events. */
function pinsOf(events: readonly ModelEvent[]): ReadonlyMap<string, number> {
  const pins = new Map<string, number>();
  for (const event of events) {
    if (event.type === "VersionRegistered") pins.set(event.data.checkpoint, event.data.number);
    if (event.type === "VersionRemoved") pins.delete(event.data.checkpoint);
  }
  return pins;
}

function numbersOf({ versions }: ModelState): readonly number[] {
  const numbers = Array.from({ length: versions.count }, (_, at) => at + 1);
  return numbers.filter((number) => versionAt(versions, number)?.removed === false);
}

test("aliases name existing versions, each version has its pin, and a replay gives the same state", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 60 }), (commands) => {
      let state = initialModel;
      const history: ModelEvent[] = [];
      for (const one of commands) {
        const decided = modelDecider.decide(state, one);
        if (isRejection(decided)) continue;
        history.push(...decided);
        state = fold(evolveModel, state, decided);
        const numbers = numbersOf(state);
        for (const named of Object.values(state.aliases)) expect(numbers).toContain(named);
        expect([...pinsOf(history).values()].toSorted()).toEqual(numbers.toSorted());
        const semantic = numbers.map((number) => versionAt(state.versions, number));
        const names = semantic.flatMap((found) => found?.semanticVersion || []);
        expect(new Set(names).size).toBe(names.length);
      }
      expect(fold(evolveModel, initialModel, history)).toEqual(state);
    }),
    { numRuns: 500 },
  );
});
