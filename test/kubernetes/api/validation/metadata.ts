// Source: API reference, "ObjectMeta"; docs, "Object Names and IDs", "Owners and Dependents", "Finalizers".
import type { KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";
import {
  checkAnnotations,
  checkDnsLabel,
  checkLabels,
  checkQualifiedName,
  checkServiceName,
  checkSubdomain,
} from "./names.ts";
import type { Report } from "./report.ts";

export const checkMetadata = (
  report: Report,
  resource: Resource,
  { metadata }: KubeObject,
): void => {
  if (!metadata.name) report.required("metadata.name", "name or generateName is required");
  else checkName(report, resource, metadata.name);
  checkLabels(report, "metadata.labels", metadata.labels);
  checkAnnotations(report, "metadata.annotations", metadata.annotations);
  for (const finalizer of metadata.finalizers ?? []) {
    if (
      !finalizer.includes("/") &&
      !["foregroundDeletion", "orphan", "kubernetes"].includes(finalizer)
    ) {
      report.invalid(
        "metadata.finalizers",
        finalizer,
        "name is neither a standard finalizer name nor is it fully qualified",
      );
    } else checkQualifiedName(report, "metadata.finalizers", finalizer);
  }
  const owners = metadata.ownerReferences ?? [];
  for (const owner of owners) {
    for (const field of ["apiVersion", "kind", "name", "uid"] as const) {
      if (!owner[field])
        report.invalid(`metadata.ownerReferences.${field}`, "", `${field} must not be empty`);
    }
  }
  if (owners.filter(({ controller }) => controller).length > 1) {
    const why = "Only one reference can have Controller set to true";
    report.invalid(
      "metadata.ownerReferences",
      owners.map(({ name }) => name),
      why,
    );
  }
};

const checkName = (report: Report, { kind, group }: Resource, name: string): void => {
  if (kind === "Namespace") checkDnsLabel(report, "metadata.name", name);
  else if (kind === "Service") checkServiceName(report, "metadata.name", name);
  else if (group !== "rbac.authorization.k8s.io") checkSubdomain(report, "metadata.name", name);
  else if (name === "." || name === ".." || /[/%]/.test(name)) {
    report.invalid("metadata.name", name, "may not be '.' or '..', and may not contain '/' or '%'");
  }
};
