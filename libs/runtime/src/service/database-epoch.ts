/**
 * An SQL expression that identifies the history of a database: its text changes with a recovery from a backup, a
 * failover, or another server. A stored log position is valid only within its history.
 */
export const databaseEpoch = `left(md5(
  (select system_identifier::text from pg_control_system()) || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)), 8)`;
