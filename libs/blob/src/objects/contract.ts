/** The promises of every adapter of `ObjectStore`. Call it in a test file of the adapter. */
import { contentContract, listingContract } from "./contract/content.ts";
import { failureContract } from "./contract/failures.ts";
import type { Open } from "./contract/opened.ts";
import {
  largeUploadContract,
  planContract,
  slicedPlanContract,
  uploadContract,
} from "./contract/uploads.ts";

export function objectStoreContract(open: Open): void {
  contentContract(open);
  listingContract(open);
  uploadContract(open);
  largeUploadContract(open);
  slicedPlanContract(open);
  planContract(open);
  failureContract(open);
}
