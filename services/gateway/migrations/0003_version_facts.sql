-- What versions of models are looked for by: folded from the log together with the documents, and derived from them.
create table gateway.version_facts (
  model text collate "C" not null,
  -- metrics.NAME, hparams.NAME, metadata.NAME, step, label=NAME, semver=1.2.0.
  fact text collate "C" not null,
  -- The number of the version.
  number integer not null,
  -- Finite; null for what is no number.
  value_num double precision,
  -- Null for a number.
  value_text text,
  primary key (model, fact, number)
);
-- The best by a metric, in both directions; among equal ones the oldest.
create index version_facts_least on gateway.version_facts (model, fact, value_num, number)
  where value_num is not null;
create index version_facts_most on gateway.version_facts (model, fact, value_num desc, number)
  where value_num is not null;
