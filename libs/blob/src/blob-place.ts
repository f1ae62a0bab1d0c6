/** The place of the blobs, which the operator chooses: a folder, or the address of an object store. */
import { Fault } from "@trainyard/kernel";
import type { Variables } from "./storage-kind.ts";
import { addressForms, sectionOfAddress, storeAddress } from "./store-address.ts";

export type BlobPlace = { readonly kind: "folder"; readonly path: string } | BlobStorePlace;

export type BlobStorePlace = {
  readonly kind: "store";
  /** The address for people. */
  readonly address: string;
  readonly section: Readonly<Record<string, string>>;
  /** The endpoint of a store that is not Amazon's or Google's. */
  readonly endpoint: string | null;
};

const [folderVariable, storeVariable] = ["TRAINYARD_BLOB_DIR", "TRAINYARD_BLOB_STORAGE"];
const endpointVariable = "TRAINYARD_BLOB_STORAGE_ENDPOINT";

/** Reads the place from a service's variables. Throws a Fault that names a wrong variable. */
export function blobPlace(variables: Variables): BlobPlace {
  const { [folderVariable]: path = "", [storeVariable]: address = "" } = variables;
  const { [endpointVariable]: endpoint = "" } = variables;
  if ((path === "") === (address === "")) {
    const isBoth = path !== "";
    throw wrong(
      isBoth
        ? `${folderVariable} and ${storeVariable} are both set: model code has one place`
        : `neither ${folderVariable} nor ${storeVariable} is set`,
    );
  }
  if (path !== "") {
    if (endpoint !== "") throw wrong(`${endpointVariable} needs ${storeVariable}`);
    return { kind: "folder", path };
  }
  if (endpoint !== "" && !/^https?:$/.test(URL.parse(endpoint)?.protocol ?? "")) {
    throw wrong(`${endpointVariable}: must be the http or https address of the store`);
  }
  const named = endpoint === "" ? null : endpoint;
  const section = sectionOfAddress(address, named ?? undefined);
  if (section === null) throw wrong(`${storeVariable}: must be ${addressForms}`);
  return {
    kind: "store",
    address: storeAddress(section) ?? address,
    section,
    endpoint: named,
  };
}

function wrong(problem: string): Fault {
  const detail = `environment variables are wrong: ${problem}`;
  return new Fault("invalid_environment", detail, { retry: "never" });
}
