/** Warnings about keys of a task's document that have no effect on tasks of its kind. */
import type { FieldProblem } from "@trainyard/kernel";
import { flagAt, type JsonObject, mappingAt, valueAt } from "../json.ts";
import { hasPage, keepsWork, type TaskKind } from "./recorded.ts";

type Rule = {
  readonly key: string;
  /** Returns why the key changes nothing; null if it has its effect. */
  readonly without: (document: JsonObject, kind: TaskKind) => string | null;
};

const unless = (has: boolean, why: string): string | null => (has ? null : why);

const rules: readonly Rule[] = [
  {
    key: "entrypoint",
    without: (_, kind) =>
      unless(kind !== "shell", "has no effect on a shell, whose terminals start a login shell"),
  },
  {
    key: "notebook_idle_type",
    without: (_, kind) => unless(kind === "notebook", `has no effect on a ${kind}`),
  },
  {
    key: "tensorboard_args",
    without: (_, kind) => unless(kind === "tensorboard", `has no effect on a ${kind}`),
  },
  {
    key: "ready_timeout",
    without: (_, kind) => unless(hasPage(kind), `has no effect on a ${kind}`),
  },
  {
    key: "idle_timeout",
    without: (document, kind) =>
      unless(
        kind !== "command" || hasPorts(document),
        "has no effect on a command without environment.proxy_ports, which nobody uses",
      ),
  },
  {
    key: "keep_work",
    without: (document, kind) => {
      const asked = flagAt(document, "keep_work", false);
      if (kind === "command") return null;
      if (kind === "tensorboard") {
        return unless(!asked, "has no effect on a tensorboard, which has no files of its own");
      }
      return unless(asked, `has no effect: the folder of a ${kind} is always saved`);
    },
  },
  {
    key: "checkpoint_storage",
    without: (document, kind) =>
      unless(
        keepsWork(kind, { keep_work: flagAt(document, "keep_work", false) }),
        "has no effect: nothing of this task is saved",
      ),
  },
];

function hasPorts(document: JsonObject): boolean {
  const ports = valueAt(mappingAt(document, "environment"), "proxy_ports");
  return Array.isArray(ports) && ports.length > 0;
}

export function kindWarnings(document: JsonObject, kind: TaskKind): readonly FieldProblem[] {
  return rules.flatMap(({ key, without }) => {
    const detail = valueAt(document, key) === undefined ? null : without(document, kind);
    return detail === null ? [] : [{ path: key, detail }];
  });
}
