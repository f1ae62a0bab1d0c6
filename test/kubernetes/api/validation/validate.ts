// Refuses an object whose values its kind does not allow, with all that is wrong. Changes of fields that must stay are
// refused to clients alone: schedulers and provisioners fill some of them.
import { invalid } from "../fault.ts";
import type { KubeObject } from "../object-store.ts";
import type { Resource } from "../resources.ts";
import { schemaOf } from "../schemas/schema.ts";
import { checkDeclared } from "./declared.ts";
import { checkMetadata } from "./metadata.ts";
import { checkIngress, checkNetworkPolicy, checkService } from "./network.ts";
import { checkBinding, checkBudget, checkClaimUpdate, checkData, checkRole } from "./others.ts";
import { checkPodSpec, checkPodUpdate } from "./pods.ts";
import { Report } from "./report.ts";
import { checkClaim, checkWorkload, checkWorkloadUpdate } from "./workloads.ts";

/** `old` is the stored object at an update of a client. Throws 422. */
export const validate = (resource: Resource, object: KubeObject, old: KubeObject | null): void => {
  const report = new Report();
  checkMetadata(report, resource, object);
  checkKind(report, object, old);
  checkDeclared(report, object, schemaOf(resource));
  if (report.errors.length > 0) throw invalid(resource, object.metadata.name, report.errors);
};

const checkKind = (report: Report, object: KubeObject, old: KubeObject | null): void => {
  switch (object.kind) {
    case "Pod":
      if (old) checkPodUpdate(report, object, old);
      checkPodSpec(report, "spec", object.spec);
      return;
    case "Deployment":
    case "ReplicaSet":
    case "StatefulSet":
    case "Job":
      if (old) checkWorkloadUpdate(report, object, old);
      checkWorkload(report, object);
      return;
    case "Service":
      checkService(report, object, old);
      return;
    case "Ingress":
      checkIngress(report, object);
      return;
    case "NetworkPolicy":
      checkNetworkPolicy(report, object);
      return;
    case "Secret":
    case "ConfigMap":
      checkData(report, object, old);
      return;
    case "PodDisruptionBudget":
      checkBudget(report, object);
      return;
    case "Role":
    case "ClusterRole":
      checkRole(report, object);
      return;
    case "RoleBinding":
    case "ClusterRoleBinding":
      checkBinding(report, object, old);
      return;
    case "PersistentVolumeClaim":
      checkClaim(report, "spec", object.spec);
      if (old) checkClaimUpdate(report, object, old);
      return;
    default:
  }
};
