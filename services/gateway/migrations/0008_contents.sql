-- The experiments and versions of models that name what is stored under its digest. The rows are folded from the log
-- together with the documents.
create table gateway.content_uses (
  -- contexts.<digest>, submissions.<digest>, environments.<digest>
  content text collate "C" not null,
  -- experiment-12, version-iris/3
  used_by text collate "C" not null,
  primary key (content, used_by)
);
create index content_uses_by_user on gateway.content_uses (used_by);

-- How far the log was read for experiments that were deleted for good, whose contents go.
create table gateway.purged (
  one boolean primary key default true check (one),
  position bigint not null
);
