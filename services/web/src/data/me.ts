/** The caller, with its roles and permissions: read once, and again when the live stream took or gave something. */
import type { UseQueryResult } from "@tanstack/react-query";
import type { Rights } from "@trainyard/access";
import type { ReplyOf } from "@trainyard/contracts";
import { useMemo } from "react";
import { useCall } from "./calls.ts";
import { rightsOfMe } from "./rights.ts";

export type Me = ReplyOf<"getMe">;

export const useMe = (): UseQueryResult<Me> => useCall("getMe", {});

/** The caller's rights. They decide only what pages show; the gateway decides what is done. */
export function useRights(): Rights {
  const { data } = useMe();
  return useMemo(() => rightsOfMe(data), [data]);
}
