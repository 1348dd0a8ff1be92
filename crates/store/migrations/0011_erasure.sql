-- The erasures that are due after removals of sessions. They stay due after a crash.

ALTER TABLE removed ADD COLUMN residue INTEGER NOT NULL DEFAULT 0;  -- 1: the file may contain parts of deleted rows
ALTER TABLE removed ADD COLUMN removals INTEGER NOT NULL DEFAULT 0; -- number of removals
ALTER TABLE removed ADD COLUMN swept INTEGER NOT NULL DEFAULT 0;    -- removals whose snapshots are erased

-- Earlier versions did not record it.
UPDATE removed SET
  residue = key > 0 OR EXISTS (SELECT 1 FROM aggregate) OR EXISTS (SELECT 1 FROM credential),
  removals = key > 0;

-- Managed Tool Output Files to delete: those that deleted entries name, and all files of session trees.

CREATE TABLE removed_file (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE removed_tree (root TEXT PRIMARY KEY) WITHOUT ROWID;
