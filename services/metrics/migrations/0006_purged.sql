-- How far this service has read the log for experiments that were deleted for good, whose reports it deletes.
create table metrics.purged (
  one boolean primary key default true check (one),
  position bigint not null
);
