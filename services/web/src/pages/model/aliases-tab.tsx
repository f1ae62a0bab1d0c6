import type { Plain } from "@trainyard/contracts";
import type { ModelAliasMove } from "@trainyard/contracts/api";
import type { JSX } from "react";
import { Button } from "../../components/button.tsx";
import { EmptyState } from "../../components/empty-state.tsx";
import { ErrorNote } from "../../components/error-note.tsx";
import { time } from "../../components/format.ts";
import { type PlainColumn, PlainTable } from "../../components/plain-table.tsx";
import { useChange, useList } from "../../data/calls.ts";
import styles from "./page.module.css";
import { useMayChange } from "./use-may-change.ts";

type Props = { readonly model: string; readonly aliases: Readonly<Record<string, number>> };

/** The current aliases, and each move with its reason, newest first. */
export function AliasesTab({ model, aliases }: Props): JSX.Element {
  const moves = useList("listModelAliasMoves", { model, pageSize: 100 });
  const remove = useChange("removeModelAlias", [
    "getModel",
    "listModelVersions",
    "listModelAliasMoves",
  ]);
  const removeAlias = (alias: string) => remove.mutate({ request: { model, alias, reason: "" } });
  const mayRemove = useMayChange(model)("removeModelAlias");
  const names = Object.entries(aliases);
  const rows = moves.data?.pages.flatMap(({ items }) => items) ?? [];
  if (names.length === 0 && rows.length === 0 && !moves.isPending) {
    return (
      <EmptyState
        title="This model has no aliases."
        command={`yard model promote ${model} VERSION --alias champion --reason "…"`}
      >
        An alias names one version at a time, for downloads of the current version.
      </EmptyState>
    );
  }
  return (
    <div className={styles["column"]}>
      <Aliases
        names={names}
        fixed={!mayRemove}
        isPending={remove.isPending}
        onRemove={removeAlias}
      />
      {remove.error !== null && <ErrorNote error={remove.error} />}
      {moves.error !== null && <ErrorNote error={moves.error} />}
      <h2>Moves</h2>
      <Moves moves={rows} />
      {moves.hasNextPage && <Button onClick={() => void moves.fetchNextPage()}>Show more</Button>}
    </div>
  );
}

type AliasesProps = {
  readonly names: readonly (readonly [alias: string, version: number])[];
  /** The caller may not remove aliases. */
  readonly fixed: boolean;
  readonly isPending: boolean;
  readonly onRemove: (alias: string) => void;
};

function Aliases({ names, fixed, isPending, onRemove }: AliasesProps): JSX.Element {
  const change: PlainColumn<AliasesProps["names"][number]> = {
    title: "Change",
    cell: ([alias]) => (
      <Button
        look="plain"
        disabled={isPending}
        aria-label={`Remove the alias ${alias}`}
        onClick={() => onRemove(alias)}
      >
        Remove
      </Button>
    ),
  };
  return (
    <PlainTable
      caption="Aliases"
      rows={names}
      keyOf={([alias]) => alias}
      columns={[
        { title: "Alias", cell: ([alias]) => alias },
        { title: "Version", cell: ([, version]) => version },
        ...(fixed ? [] : [change]),
      ]}
    />
  );
}

function Moves({ moves }: { readonly moves: readonly Plain<ModelAliasMove>[] }): JSX.Element {
  return (
    <PlainTable
      caption="Moves of aliases"
      rows={moves}
      keyOf={({ alias, atMs }) => `${alias} ${atMs}`}
      columns={[
        { title: "Time", cell: ({ atMs }) => time(atMs) },
        { title: "Alias", cell: ({ alias }) => alias },
        { title: "From", cell: ({ fromNumber }) => (fromNumber === 0 ? "new" : fromNumber) },
        { title: "To", cell: ({ number }) => (number === 0 ? "removed" : number) },
        { title: "By", cell: ({ by }) => by },
        { title: "Reason", cell: ({ reason }) => reason },
      ]}
    />
  );
}
