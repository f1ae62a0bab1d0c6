-- The words in some thousand lines of an experiment that follow each other, as a Bloom filter
-- (src/core/word-filter.ts): a search for words skips the chunks that lack one. A chunk is made after its lines are
-- stored; lines that are not in a chunk yet are read.
create table logs.word_chunks (
  experiment text collate "C" not null,
  -- The positions of the first line and of the last. A chunk has all lines of its experiment after the chunk before it.
  first_position bigint not null,
  last_position bigint not null,
  words bytea not null,
  primary key (experiment, first_position)
);
-- A search reads a few bytes of each.
alter table logs.word_chunks alter column words set storage external;

-- The bytes of the text that has been stored since the last chunk was made, and of all that was stored before there
-- were chunks.
alter table logs.experiments add column unindexed_bytes bigint not null default 0;
update logs.experiments set unindexed_bytes = bytes;
