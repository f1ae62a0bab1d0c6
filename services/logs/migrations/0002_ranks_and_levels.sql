-- What a line says of itself. Columns without a default are added without rewriting the table: lines of before have none.
alter table logs.lines
  -- The rank of the process, which its launcher writes before each line.
  add column rank integer,
  -- The number of trainyard.command.v1.LogLevel; 0 where the line does not say it.
  add column level smallint,
  -- Milliseconds since 1970, the database's clock.
  add column received_ms double precision;
