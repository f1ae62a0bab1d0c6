import { useMemo } from "react";
import { useCall } from "../../data/calls.ts";
import { comparisonOf } from "./comparison.ts";
import { comparisonRead } from "./read.ts";
import type { CompareSearch } from "./url.ts";

/** Reads the comparison of the URL again when one of its experiments changes. */
export function useComparison({ of }: CompareSearch) {
  const { sources, request, live } = useMemo(() => comparisonRead(of), [of]);
  const enabled = sources.length > 0;
  const read = useCall("compareTrials", request, { enabled, keepPrevious: true, ...live });
  const comparison = useMemo(
    () => (read.data === undefined || !enabled ? null : comparisonOf(read.data)),
    [read.data, enabled],
  );
  return { sources, read, comparison };
}
