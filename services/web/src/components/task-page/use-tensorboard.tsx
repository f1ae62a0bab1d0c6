import { useNavigate } from "@tanstack/react-router";
import { type JSX, useState } from "react";
import { useChange } from "../../data/calls.ts";
import { client } from "../../data/client.ts";
import { useIsOwn, useMayAnywhere } from "../../data/may.ts";
import { useMe } from "../../data/me.ts";
import type { Verb } from "../page/verbs.tsx";
import { useSay } from "../toasts.tsx";
import { boardOf, boardsFilter } from "./board-of.ts";
import { useTaskPage } from "./use-task-page.tsx";

/** TensorBoards that are looked through for the one of an experiment. */
const boardsMax = 100;

/**
 * The action that opens the TensorBoard of an experiment, a trial, or several of them. One that runs is opened in a new
 * tab. Otherwise the task's page appears, and the task is started if there is none. TensorBoard uses no slots.
 */
export function useTensorBoard(...sources: readonly string[]): {
  /** One action; none for callers who may start no tasks. */
  readonly verbs: readonly Verb[];
  readonly dialog: JSX.Element;
} {
  const { open, dialog } = useTaskPage();
  const start = useChange("createTask", ["listTasks"]);
  const navigate = useNavigate();
  const say = useSay();
  const [isBusy, setBusy] = useState(false);
  const isOwn = useIsOwn();
  const { data: me } = useMe();
  const mayStart = useMayAnywhere()("createTask");
  const show = async (): Promise<void> => {
    const owner = me?.hasUsers === true ? me.user?.name : undefined;
    const asked = { filter: boardsFilter(owner), pageSize: boardsMax };
    const found = boardOf((await client.call("listTasks", asked)).items, sources, isOwn);
    if (found?.state === "RUNNING") {
      open(found, 0);
      return;
    }
    const overrides = ["resources.slots=0"];
    const request = { kind: "tensorboard", sources: [...sources], overrides };
    const { id } = found ?? (await start.mutateAsync({ request })).task ?? {};
    if (id !== undefined) await navigate({ to: "/tasks/$task", params: { task: id }, search: {} });
  };
  const run = (): void => {
    setBusy(true);
    void show()
      .catch(say.failed)
      .finally(() => setBusy(false));
  };
  const verb: Verb = { title: "TensorBoard", disabled: isBusy, run };
  return { verbs: mayStart ? [verb] : [], dialog };
}
