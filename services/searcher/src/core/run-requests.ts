/**
 * The latest run of a trial at a position of the log: a report of an earlier run is stale. Requests beyond the position
 * may be known already and must not count, so each is kept with its own position.
 */
export type RunRequest = { readonly run: number; readonly position: number };

/** In the order of the log. */
export type RunRequests = readonly RunRequest[];

/** A request that is known changes nothing. */
export function withRequest(requests: RunRequests, request: RunRequest): RunRequests {
  return request.run > (requests.at(-1)?.run ?? 0) ? [...requests, request] : requests;
}

/** The run that was requested last before the position; 0 for none. */
export function currentRunAt(requests: RunRequests, position: number): number {
  return requests.findLast((request) => request.position < position)?.run ?? 0;
}
