import { useMe, useRights } from "../data/me.ts";
import { type Place, placesFor } from "./places.ts";

/** The places that lead somewhere for the caller. */
export function usePlaces(): readonly Place[] {
  const { data } = useMe();
  return placesFor(useRights(), data?.hasUsers === true);
}
