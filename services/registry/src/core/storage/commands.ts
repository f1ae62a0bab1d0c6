export type StorageCommand =
  | {
      readonly kind: "adopt";
      readonly root: string;
      readonly storageId: string;
      readonly replacedIds: readonly string[];
      readonly by: string;
    }
  | {
      readonly kind: "delete_unknown";
      readonly root: string;
      readonly names: readonly string[];
      readonly olderThanMs: number;
      readonly by: string;
      readonly reason: string;
    };
