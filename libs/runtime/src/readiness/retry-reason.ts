/** Returns the messages of an error and its causes as one text, without a stack and without repetitions. */
export function retryReason(error: unknown): string {
  const parts: string[] = [];
  for (const part of messagesOf(error)) {
    if (!parts.some((one) => one.includes(part))) parts.push(part);
  }
  return parts.join(": ");
}

function messagesOf(error: unknown): readonly string[] {
  // For a host name with several addresses, the messages are in the inner errors.
  if (error instanceof AggregateError && error.errors.length > 0)
    return [[...new Set(error.errors.map(retryReason))].join("; ")];
  if (!(error instanceof Error)) return [String(error)];
  return [error.message, ...(error.cause === undefined ? [] : messagesOf(error.cause))];
}
