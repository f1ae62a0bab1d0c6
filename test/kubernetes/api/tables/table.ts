// Source: docs, "Kubernetes API Concepts" (receiving resources as Tables).
import type { KubeObject } from "../object-store.ts";
import { columnsOf } from "./columns.ts";

export const partial = ({ metadata }: KubeObject): unknown => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata,
});

export const tableOf = (
  kind: string,
  objects: readonly KubeObject[],
  metadata: Record<string, unknown>,
  options: { include: string | null; headers: boolean },
): unknown => {
  const columns = columnsOf(kind);
  const definitions = columns.map(({ name, type, wide }, index) => ({
    name,
    type,
    format: index === 0 && name === "Name" ? "name" : "",
    description: name,
    priority: wide ? 1 : 0,
  }));
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: options.headers ? definitions : null,
    rows: objects.map((object) => ({
      cells: columns.map(({ cell }) => cell(object)),
      ...(options.include === "None"
        ? {}
        : { object: options.include === "Object" ? object : partial(object) }),
    })),
  };
};
