/** The contract suite of `ObjectStore`: the test file of each adapter calls it. */
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
