import { useEffect, useRef } from "react";

/** Returns the answer, or while its request fails the last answer for the same object: a wrong filter hides no rows. */
export function useLastReply<Reply>(
  { data, isError }: { readonly data: Reply | undefined; readonly isError: boolean },
  object: string,
): Reply | undefined {
  const last = useRef<{ readonly object: string; readonly data: Reply } | null>(null);
  useEffect(() => {
    if (data !== undefined) last.current = { object, data };
  });
  if (data !== undefined || !isError) return data;
  return last.current?.object === object ? last.current.data : undefined;
}

/** Names the list that an answer has, by its request; null while the shown rows are still those of another one. */
export function listNamed(
  answer: { readonly data: unknown; readonly isPlaceholderData: boolean },
  request: unknown,
): string | null {
  return answer.data === undefined || answer.isPlaceholderData ? null : JSON.stringify(request);
}
