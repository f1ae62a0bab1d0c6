import { given } from "@trainyard/testing";
import { describe, expect, test } from "vitest";
import { registryLimits } from "../../limits.ts";
import type { Registered, WordsChange } from "./commands.ts";
import { modelDecider as decider } from "./decide.ts";
import type { ModelEvent } from "./state.ts";

const model = "iris";
const by = "ada";
const asked = { model, by };
const noChange: WordsChange = { addLabels: [], removeLabels: [] };
const none = { description: "", notes: "", labels: [], metadata: {} };
const one = "aaaaaaaa-0000-4000-8000-000000000001";
const two = "bbbbbbbb-0000-4000-8000-000000000002";
const registered = (checkpoint: string, semanticVersion = ""): Registered => ({
  checkpoint,
  trial: "12.3",
  run: 1,
  step: 100,
  metrics: { loss: 0.5 },
  semanticVersion,
});
const wasCreated = { type: "ModelCreated", data: { ...none, workspace: "", by } } as const;
const wasRegistered = (number: number, checkpoint: string, semantic = ""): ModelEvent => ({
  type: "VersionRegistered",
  data: { ...registered(checkpoint, semantic), ...none, number, by },
});
const wasRemoved = (number: number, checkpoint: string): ModelEvent => ({
  type: "VersionRemoved",
  data: { number, checkpoint, reason: "", by },
});
const wasMoved = (alias: string, number: number, fromNumber = 0, reason = ""): ModelEvent => ({
  type: "AliasMoved",
  data: { alias, number, fromNumber, reason, by },
});
const wasArchived: ModelEvent = { type: "ModelArchived", data: { reason: "", by } };
const register = (checkpoint: string, semantic = "", words = noChange, create = false) =>
  ({
    ...asked,
    kind: "register",
    registered: registered(checkpoint, semantic),
    words,
    createIn: create ? "vision" : null,
  }) as const;
const move = (alias: string, version: string, reason = "") =>
  ({ ...asked, kind: "move_alias", alias, version, reason }) as const;
const remove = (version: string) =>
  ({ ...asked, kind: "remove_version", version, reason: "" }) as const;

describe("a model", () => {
  const create = { ...asked, kind: "create", words: noChange, workspace: "" } as const;
  const describeModel = (words: Partial<WordsChange>) =>
    ({ ...asked, kind: "describe", words: { ...noChange, ...words } }) as const;

  test("is created once", () => {
    given(decider).when(create).then(wasCreated);
    given(decider, wasCreated).when(create).thenRejected("model_exists");
  });
  test.each(["", ".", "../x", "a/b", "a b", "-a", "ä", "a".repeat(64), "a\0"])(
    "is not created with the name %j",
    (name) =>
      given(decider)
        .when({ ...create, model: name })
        .thenRejected("invalid_request"),
  );
  test("is changed only in the given fields", () => {
    const words = { description: "of flowers", addLabels: ["b", "a"], metadata: { x: 1, y: 2 } };
    const wasDescribed: ModelEvent = {
      type: "ModelDescribed",
      data: {
        ...none,
        description: "of flowers",
        labels: ["a", "b"],
        metadata: { x: 1, y: 2 },
        by,
      },
    };
    given(decider, wasCreated).when(describeModel(words)).then(wasDescribed);
    given(decider, wasCreated, wasDescribed).when(describeModel(words)).thenNothing();
    given(decider, wasCreated, wasDescribed)
      .when(describeModel({ removeLabels: ["a"], metadata: { x: null } }))
      .then({
        type: "ModelDescribed",
        data: { ...none, description: "of flowers", labels: ["b"], metadata: { y: 2 }, by },
      });
  });
  test.each([
    { addLabels: [""] },
    { addLabels: [" a"] },
    { addLabels: ["a\n"] },
    { addLabels: ["a".repeat(registryLimits.labelCharactersMax + 1)] },
    { addLabels: Array.from({ length: registryLimits.labelsMax + 1 }, (_, at) => `l${at}`) },
    { description: "a".repeat(registryLimits.descriptionBytesMax + 1) },
    { notes: "ä".repeat(registryLimits.notesBytesMax / 2 + 1) },
    { metadata: { a: "x".repeat(registryLimits.metadataBytesMax) } },
  ])("takes no words beyond the limits (case %#)", (words) =>
    given(decider, wasCreated).when(describeModel(words)).thenRejected("invalid_request"),
  );
  test("is archived and unarchived", () => {
    const archive = { ...asked, kind: "archive", reason: "" } as const;
    const unarchive = { ...asked, kind: "unarchive" } as const;
    given(decider, wasCreated).when(archive).then(wasArchived);
    given(decider, wasCreated, wasArchived).when(archive).thenNothing();
    given(decider, wasCreated, wasArchived)
      .when(unarchive)
      .then({ type: "ModelUnarchived", data: { by } });
    given(decider, wasCreated).when(unarchive).thenNothing();
  });
  test("that does not exist is refused by name", () =>
    given(decider).when(describeModel({})).thenRejected("model_not_found"));
});

describe("a version", () => {
  test("gets the next number", () => {
    given(decider, wasCreated).when(register(one)).then(wasRegistered(1, one));
    given(decider, wasCreated, wasRegistered(1, one))
      .when(register(two, "1.0.0"))
      .then(wasRegistered(2, two, "1.0.0"));
  });
  test("never gets the number of a removed version", () =>
    given(decider, wasCreated, wasRegistered(1, one), wasRemoved(1, one))
      .when(register(one))
      .then(wasRegistered(2, one)));
  test("creates its model in a workspace if requested", () => {
    const inVision: ModelEvent = {
      ...wasCreated,
      data: { ...wasCreated.data, workspace: "vision" },
    };
    given(decider).when(register(one)).thenRejected("model_not_found");
    given(decider)
      .when(register(one, "", noChange, true))
      .then(inVision, wasRegistered(1, one));
  });
  test("of an already registered checkpoint is the existing version", () => {
    const given1 = given(decider, wasCreated, wasRegistered(1, one, "1.0.0"));
    given1.when(register(one)).thenNothing();
    given1.when(register(one, "1.0.0")).thenNothing();
    given1.when(register(one, "1.0.1")).thenRejected("version_exists");
    given1
      .when(register(one, "", { ...noChange, addLabels: ["x"] }))
      .thenRejected("version_exists");
  });
  test("has a unique semantic version", () => {
    const two100 = register(two, "1.0.0");
    given(decider, wasCreated, wasRegistered(1, one, "1.0.0"))
      .when(two100)
      .thenRejected("version_exists");
    given(decider, wasCreated, wasRegistered(1, one, "1.0.0"), wasRemoved(1, one))
      .when(two100)
      .then(wasRegistered(2, two, "1.0.0"));
  });
  test.each(["1", "1.0", "v1.0.0", "1.0.0 ", "01.0.0", "1.0.0-", `1.0.0-${"a".repeat(60)}`])(
    "does not have the semantic version %j",
    (text) => given(decider, wasCreated).when(register(one, text)).thenRejected("invalid_request"),
  );
  test("is not added to an archived model", () =>
    given(decider, wasCreated, wasArchived).when(register(one)).thenRejected("model_archived"));
  test("is changed by its number, semantic version, alias or as the latest", () => {
    const history = [wasCreated, wasRegistered(1, one, "1.0.0"), wasMoved("champion", 1)];
    for (const version of ["1", "1.0.0", "champion", "latest"]) {
      const words = { ...noChange, notes: "good" };
      given(decider, ...history)
        .when({ ...asked, kind: "describe_version", version, words })
        .then({ type: "VersionDescribed", data: { ...none, notes: "good", number: 1, by } });
    }
  });
  test("is removed, unless an alias names it", () => {
    const history = [wasCreated, wasRegistered(1, one)];
    given(decider, ...history)
      .when(remove("1"))
      .then(wasRemoved(1, one));
    given(decider, ...history, wasMoved("champion", 1))
      .when(remove("1"))
      .thenRejected("version_in_use");
    given(decider, ...history, wasRemoved(1, one))
      .when(remove("1"))
      .thenRejected("version_removed");
    given(decider, ...history)
      .when(remove("2"))
      .thenRejected("version_not_found");
  });
});

describe("an alias", () => {
  const history = [wasCreated, wasRegistered(1, one), wasRegistered(2, two, "1.0.0")];

  test("moves with a reason, and its event names the previous version", () => {
    given(decider, ...history)
      .when(move("champion", "1", "first"))
      .then(wasMoved("champion", 1, 0, "first"));
    given(decider, ...history, wasMoved("champion", 1))
      .when(move("champion", "1.0.0", "better"))
      .then(wasMoved("champion", 2, 1, "better"));
    given(decider, ...history, wasMoved("champion", 1))
      .when(move("challenger", "champion"))
      .then(wasMoved("challenger", 1));
    given(decider, ...history, wasMoved("champion", 2))
      .when(move("champion", "latest"))
      .thenNothing();
  });
  test.each(["", "1", "v1", "v1.2", "1.0.0", "2.0", "latest", "a b", "../x", "a.b", "_a"])(
    "must not be named %j",
    (alias) =>
      given(decider, ...history)
        .when(move(alias, "1"))
        .thenRejected("invalid_request"),
  );
  test("names only existing versions", () => {
    for (const version of ["3", "0", "9.9.9", "toString", ""]) {
      given(decider, ...history)
        .when(move("champion", version))
        .thenRejected("version_not_found");
    }
    given(decider, ...history, wasRemoved(1, one))
      .when(move("champion", "1"))
      .thenRejected("version_removed");
  });
  test("does not move in an archived model", () =>
    given(decider, ...history, wasArchived)
      .when(move("champion", "1"))
      .thenRejected("model_archived"));
  test("has a reason of at most a thousand characters", () =>
    given(decider, ...history)
      .when(move("champion", "1", "a".repeat(registryLimits.reasonCharactersMax + 1)))
      .thenRejected("invalid_request"));
  test("is removed with a reason", () => {
    const removeAlias = { ...asked, kind: "remove_alias", alias: "champion", reason: "" } as const;
    given(decider, ...history, wasMoved("champion", 2))
      .when(removeAlias)
      .then({ type: "AliasRemoved", data: { alias: "champion", number: 2, reason: "", by } });
    given(decider, ...history)
      .when(removeAlias)
      .thenRejected("alias_not_found");
  });
  test("is refused beyond a hundred aliases of a model", () => {
    const full = Array.from({ length: registryLimits.aliasesMax }, (_, at) =>
      wasMoved(`role-${at}`, 1),
    );
    given(decider, ...history, ...full)
      .when(move("champion", "1"))
      .thenRejected("too_many_aliases");
    given(decider, ...history, ...full)
      .when(move("role-0", "2"))
      .then(wasMoved("role-0", 2, 1));
  });
});

test("a version beyond the first page of versions is found", () => {
  const events = Array.from({ length: 600 }, (_, at) => wasRegistered(at + 1, `checkpoint-${at}`));
  const { state } = given(decider, wasCreated, ...events);
  expect(state.versions.count).toBe(600);
  given(decider, wasCreated, ...events)
    .when(remove("513"))
    .then(wasRemoved(513, "checkpoint-512"));
});
