// Reviews of what the asking user may do. Source: docs, "Authorization" (checking API access), "Authenticating" (API
// access to authentication information for a client); API reference, "SelfSubjectAccessReview",
// "SelfSubjectRulesReview".
import { badRequest } from "../fault.ts";
import type { Fields, KubeObject } from "../object-store.ts";
import type { Authorizer } from "../rbac/authorize.ts";
import { apiVersionOf, type Resource } from "../resources.ts";
import { readBody } from "./body.ts";
import type { Answer } from "./objects.ts";
import type { ApiRequest } from "./request.ts";

export const review = (resource: Resource, authorizer: Authorizer, request: ApiRequest): Answer => {
  const given = readBody(request.body, request.headers["content-type"]).value as KubeObject;
  const { user } = request;
  const status: Fields =
    resource.kind === "SelfSubjectAccessReview"
      ? accessOf(authorizer, request, given)
      : resource.kind === "SelfSubjectRulesReview"
        ? rulesOf(authorizer, request, given)
        : { userInfo: { username: user.name, groups: user.groups } };
  const kind = { kind: resource.kind, apiVersion: apiVersionOf(resource) };
  const body = { ...kind, metadata: { creationTimestamp: null }, spec: given.spec, status };
  return { code: 201, body };
};

const accessOf = (authorizer: Authorizer, { user }: ApiRequest, { spec }: KubeObject): Fields => {
  const attributes: Fields | undefined = spec?.resourceAttributes;
  const path: Fields | undefined = spec?.nonResourceAttributes;
  if (path) return { allowed: authorizer.allowsPath(user, path.verb ?? "", path.path ?? "") };
  if (!attributes) {
    throw badRequest(
      "exactly one of nonResourceAttributes or resourceAttributes must be specified",
    );
  }
  const { verb = "", group = "", resource = "", subresource = "", namespace, name } = attributes;
  const asked = {
    verb,
    group,
    resource,
    subresource,
    namespace: namespace || null,
    name: name || null,
  };
  return { allowed: authorizer.allows(user, asked) };
};

const rulesOf = (authorizer: Authorizer, { user }: ApiRequest, { spec }: KubeObject): Fields => {
  if (!spec?.namespace) throw badRequest("no namespace on request");
  const rules = authorizer.rules(user, spec.namespace);
  return {
    resourceRules: rules
      .filter(({ nonResourceURLs }) => !nonResourceURLs)
      .map((rule) => ({ ...rule })),
    nonResourceRules: rules.filter(({ nonResourceURLs }) => nonResourceURLs),
    incomplete: false,
  };
};
