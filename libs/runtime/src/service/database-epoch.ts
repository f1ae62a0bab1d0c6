/**
 * An SQL expression that names the history of a database: another text after a recovery from a backup, after a
 * failover, and on another server. A position that a client kept means something in its own history only.
 */
export const databaseEpoch = `left(md5(
  (select system_identifier::text from pg_control_system()) || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)), 8)`;
