-- The shared copy of a session, and the files that its steps changed.

ALTER TABLE session ADD COLUMN share_url TEXT;              -- address of the shared copy
ALTER TABLE session ADD COLUMN diff_start TEXT;             -- snapshot before the first step that changed files
ALTER TABLE session ADD COLUMN diff_end TEXT;               -- snapshot after the newest step that changed files
ALTER TABLE session ADD COLUMN summary_additions INTEGER;
ALTER TABLE session ADD COLUMN summary_deletions INTEGER;
ALTER TABLE session ADD COLUMN summary_files INTEGER;

CREATE TABLE changed_file (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  path TEXT NOT NULL,
  stale INTEGER NOT NULL,                -- 1: the counts are older than the newest snapshot
  additions INTEGER NOT NULL DEFAULT 0,
  deletions INTEGER NOT NULL DEFAULT 0,
  differs INTEGER NOT NULL DEFAULT 0,    -- 1: the file differs between the two snapshots of the session
  PRIMARY KEY (aggregate, path)
) WITHOUT ROWID;
CREATE INDEX changed_file_stale ON changed_file(aggregate) WHERE stale = 1;
