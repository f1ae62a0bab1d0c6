import type { JSX } from "react";
import { Swatch } from "../../components/chart/legend.tsx";
import { lineStyleOf } from "../../components/chart/line-style.ts";
import { useColours } from "../../theme/colours.ts";

/** A piece of the trial's line, as in the charts. */
export function TrialSwatch({ look }: { readonly look: number }): JSX.Element {
  const { hues, grey } = useColours();
  const { hue, dash } = lineStyleOf(look);
  return <Swatch colour={hue === null ? grey : (hues[hue - 1] ?? grey)} dash={dash} />;
}
