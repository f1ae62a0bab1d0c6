-- What a person or a verification did to a checkpoint; rows of before have had none of it.
alter table checkpoint_gc.checkpoints
  -- A person deletes it, so that no policy spares it.
  add column manual boolean not null default false,
  -- Files of it are not as its manifest says: it does not compete.
  add column damaged boolean not null default false,
  -- A person had some of its files deleted: it does not compete.
  add column files text not null default 'all' check (files in ('all', 'thinning', 'thinned'));
create index checkpoints_thinning on checkpoint_gc.checkpoints (checkpoint)
  where files = 'thinning';
