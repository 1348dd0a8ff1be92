-- Sessions without a row in `session`, whose other rows remain for a while. No read finds them by their
-- id, which is another one. The rows of a removed session are deleted in steps, and a copy gets its row
-- when it is complete. A copy that a crash cut is deleted like a removed session.

CREATE TABLE hidden (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate(key) ON DELETE CASCADE,
  is_copy INTEGER NOT NULL
);
CREATE INDEX hidden_removed ON hidden(aggregate) WHERE is_copy = 0;

-- What a list of large or old sessions asks for, answered without reading entries.

ALTER TABLE aggregate ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;  -- of the payloads and metadata
ALTER TABLE aggregate ADD COLUMN active INTEGER NOT NULL DEFAULT 0; -- greatest time of an entry

UPDATE aggregate SET
  bytes = (SELECT ifnull(sum(ifnull(octet_length(data), 0) + ifnull(octet_length(metadata), 0)), 0)
    FROM event WHERE aggregate = key),
  active = (SELECT ifnull(max(time), 0) FROM event WHERE aggregate = key);

-- The lists of sessions that select by the archive or by the parent.

CREATE INDEX session_archived ON session(time_created) WHERE time_archived IS NOT NULL;
CREATE INDEX session_current ON session(time_created) WHERE time_archived IS NULL;
DROP INDEX session_parent;
CREATE INDEX session_parent ON session(parent, time_created) WHERE parent IS NOT NULL;
CREATE INDEX session_root ON session(time_created) WHERE parent IS NULL;

-- True for a fork: its parent is the session that it was copied from.

ALTER TABLE session ADD COLUMN forked INTEGER NOT NULL DEFAULT 0;

-- The settings of a prompt apply to its activity, the newest one of the session. The log implies all of this; the
-- columns save a search of the log for every turn.

ALTER TABLE session ADD COLUMN settings INTEGER;   -- admission of the prompt whose settings apply
ALTER TABLE session ADD COLUMN output INTEGER;     -- entry that settled the structured output
ALTER TABLE session ADD COLUMN rejected INTEGER NOT NULL DEFAULT 0; -- outputs that were refused since the last promotion

ALTER TABLE message ADD COLUMN output INTEGER;     -- entry with the structured output of an answer

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
