import type { QueryClient } from "@tanstack/react-query";
import type { ReplyOf, UnaryName } from "@trainyard/contracts";

export type Frame = NonNullable<ReplyOf<"watch">["frame"]>;

type Reads = { readonly list: UnaryName; readonly document: UnaryName };

/** The reads that a document of a kind is part of. */
const readsOf: Readonly<Record<string, Reads>> = {
  experiment: { list: "listExperiments", document: "getExperiment" },
  trial: { list: "listTrials", document: "getTrial" },
  checkpoint: { list: "listCheckpoints", document: "getCheckpoint" },
  model: { list: "listModels", document: "getModel" },
};

/**
 * The one place where frames change what the query client has. A changed document replaces its row in the lists that
 * show it; a read of the whole document has more than the frame, and is read again.
 */
export function patch(queries: QueryClient, frame: Frame): void {
  switch (frame.case) {
    case "change": {
      const { id, document } = frame.value;
      const reads = readsOf[document.case ?? ""];
      if (reads === undefined || document.case === undefined) return;
      queries.setQueriesData({ queryKey: [reads.list] }, (answer: unknown) =>
        withRow(answer, id, document.value),
      );
      void queries.invalidateQueries({ queryKey: [reads.document, { [document.case]: id }] });
      return;
    }
    case "reset":
      void queries.invalidateQueries();
      return;
    default:
      return;
  }
}

type List = { readonly items: readonly { readonly id: string }[] };

function withRow(answer: unknown, id: string, row: unknown): unknown {
  const list = answer as List | undefined;
  if (list?.items.some((item) => item.id === id) !== true) return answer;
  return { ...list, items: list.items.map((item) => (item.id === id ? row : item)) };
}
