import { useQueryClient } from "@tanstack/react-query";
import { useRouter } from "@tanstack/react-router";
import { signOut } from "../data/session.ts";
import { useSay } from "./toasts.tsx";

/** Returns what ends the session and opens the sign-in page. */
export function useSignOut(): () => void {
  const queries = useQueryClient();
  const { history } = useRouter();
  const say = useSay();
  return () => void signOut(queries).then(() => history.push("/sign-in"), say.failed);
}
