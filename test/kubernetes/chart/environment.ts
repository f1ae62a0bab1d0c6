import type { Container } from "./manifests.ts";

/** Secrets by key. */
export type Secrets = Readonly<Record<string, string>>;

/**
 * Returns the environment of a container as a node would set it, with `$(NAME)` replaced by the variables before it.
 * Fields of the pod have these examples, a secret without a value has `otherwise`, and an optional one is left out.
 */
export function environmentOf(
  { env = [] }: Container,
  secrets: Secrets,
  otherwise = "a secret/?#",
): Readonly<Record<string, string>> {
  const fields: Secrets = { "status.podIP": "127.0.0.1", "metadata.name": "ty-agent-a-0" };
  const values: Record<string, string> = {};
  for (const { name, value, valueFrom } of env) {
    const { secretKeyRef, fieldRef } = valueFrom ?? {};
    if (secretKeyRef?.optional === true && secrets[secretKeyRef.key] === undefined) continue;
    const text = value ?? fields[fieldRef?.fieldPath ?? ""] ?? secrets[secretKeyRef?.key ?? ""];
    values[name] = (text ?? otherwise).replace(
      /\$\((\w+)\)/g,
      (_, other: string) => values[other] ?? "",
    );
  }
  return values;
}
