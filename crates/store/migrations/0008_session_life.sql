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
