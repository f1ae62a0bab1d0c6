-- Positions say whether their store still has what they were given for (ADR 54). A server that was started anew may have been
-- restored, and so may tables that were made anew: a stream leaves out positions there, so that one which a reader has from a
-- time that was lost is between two entries, where no reader of this store can be.
create function metrics.store_mark() returns text stable language sql
as $$ select extract(epoch from pg_postmaster_start_time())::text || ' ' || 'metrics.streams'::regclass::oid::text $$;

-- The positions that a stream leaves out before its next entry.
create function metrics.position_gap(mark text) returns bigint volatile language sql
as $$ select case when mark = metrics.store_mark() then 0 else floor(random() * 68719476736)::bigint + 1 end $$;

-- Where this schema was made: until its server starts anew nothing can have been restored, and streams begin with 1.
create table metrics.birth (
  one boolean primary key default true check (one),
  mark text not null default metrics.store_mark()
);
insert into metrics.birth default values;

-- Where the last entry was added; null for one of an earlier version.
alter table metrics.streams add column mark text;
