import { endpointVariable } from "@trainyard/blob/store-address";

/** The default storage of experiments that name none, as settings of the services. */
export type DefaultStorage = {
  /** The address of an object store. */
  readonly address: string;
  /** The endpoint of a store that is neither Amazon's nor Google's. */
  readonly endpoint?: string | undefined;
};

/**
 * Variables of the services, merged over the caller's: the address of the storage, and its endpoint as an allowed one.
 */
export function storageVariables(
  storage: DefaultStorage | undefined,
  environment: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string>> {
  if (storage === undefined) return {};
  const { address, endpoint } = storage;
  const named = { TRAINYARD_CHECKPOINT_STORAGE: address };
  if (endpoint === undefined) return named;
  const own = endpointVariable(address);
  if (own !== null) return { ...named, [own]: endpoint };
  const known = environment["TRAINYARD_STORAGE_ENDPOINTS"] ?? "";
  return {
    ...named,
    TRAINYARD_CHECKPOINT_STORAGE_ENDPOINT: endpoint,
    TRAINYARD_STORAGE_ENDPOINTS: known === "" ? endpoint : `${known},${endpoint}`,
  };
}
