/**
 * A signal that aborts with the first of several, like AbortSignal.any. Only the given signals keep its listeners
 * alive: the runtime keeps every composite signal of AbortSignal.any that has a listener, with all its references,
 * until it aborts.
 */
export function firstAbort(...signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  const abort = (): void => {
    for (const signal of signals) signal.removeEventListener("abort", abort);
    controller.abort(signals.find(({ aborted }) => aborted)?.reason);
  };
  for (const signal of signals) signal.addEventListener("abort", abort);
  if (signals.some(({ aborted }) => aborted)) abort();
  return controller.signal;
}
