export type StorageCommand = {
  readonly kind: "adopt";
  readonly root: string;
  readonly storageId: string;
  readonly replacedIds: readonly string[];
  readonly by: string;
};
