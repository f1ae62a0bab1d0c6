-- Creates the partitions of the next `partition_size() / 2` positions, if they are missing. A partition is created as a
-- table and then attached, which blocks neither readers nor writers. If the lock is not available within 500 ms, a
-- later call tries again.
create function log.ensure_partitions(after_position bigint) returns void
language plpgsql
as $$
declare
  size constant bigint := log.partition_size();
  lock_timeout_before constant text := current_setting('lock_timeout');
  partition_name text;
begin
  for number in after_position / size .. (after_position + size / 2) / size loop
    partition_name := format('events_p%s', lpad(number::text, 6, '0'));
    continue when to_regclass('log.' || partition_name) is not null;
    begin
      perform set_config('lock_timeout', '500ms', true);
      execute format(
        'create table log.%I (like log.events including all,
           constraint bounds check (position > %s and position <= %s))',
        partition_name, number * size, (number + 1) * size);
      execute format(
        'alter table log.events attach partition log.%I for values from (%s) to (%s)',
        partition_name, number * size + 1, (number + 1) * size + 1);
      execute format('alter table log.%I drop constraint bounds', partition_name);
      perform set_config('lock_timeout', lock_timeout_before, true);
    exception
      -- The setting is rolled back with the rest of this block.
      when lock_not_available then null;
    end;
  end loop;
end
$$;
