// Chooses the form of an answer. Source: docs, "Kubernetes API Concepts" (alternate representations, receiving
// resources as Tables). Protobuf and CBOR are not served: a client that offers JSON as well gets JSON, another one 406.
import { ApiFault } from "../fault.ts";

export type Form = "json" | "Table" | "PartialObjectMetadata" | "APIGroupDiscoveryList";

export const formOf = (accept: string | undefined, forms: readonly Form[]): Form => {
  for (const range of (accept ?? "*/*").split(",")) {
    const [type = "", ...parameters] = range
      .trim()
      .split(";")
      .map((part) => part.trim());
    if (!["application/json", "*/*", "application/*"].includes(type)) continue;
    const as = parameters.find((parameter) => parameter.startsWith("as="))?.slice(3);
    const version = parameters.find((parameter) => parameter.startsWith("v="))?.slice(2);
    if (as === undefined) return "json";
    const form = as.replace(/^(PartialObjectMetadata)List$/, "$1") as Form;
    if (forms.includes(form) && version === VERSIONS[form]) return form;
  }
  const offered = "application/json, application/yaml";
  throw new ApiFault(
    406,
    "NotAcceptable",
    `only the following media types are accepted: ${offered}`,
  );
};

const VERSIONS: Readonly<Record<string, string>> = {
  Table: "v1",
  PartialObjectMetadata: "v1",
  APIGroupDiscoveryList: "v2",
};

export const DISCOVERY_TYPE =
  "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
