-- Experiments that were deleted for good whose TensorBoard files have to go; a row goes with them.
create table checkpoint_gc.tensorboards (
  experiment text collate "C" primary key
);
