-- A staged revert is the entry that staged it: what it holds of the files is stored once.

ALTER TABLE session ADD COLUMN staged INTEGER;
UPDATE session SET staged = (SELECT max(seq) FROM event
  WHERE event.aggregate = session.aggregate AND type = 38) WHERE revert IS NOT NULL;
ALTER TABLE session DROP COLUMN revert;

-- The permission rules of a session itself, as its record has them: those of one that carries out a
-- task for another.

ALTER TABLE session ADD COLUMN permission TEXT;

-- What a model notes that is still to be done. It is no part of the log: a list is put in the place of
-- the one before.

CREATE TABLE todo (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL,
  priority TEXT NOT NULL,
  PRIMARY KEY (aggregate, position)
) WITHOUT ROWID;

-- Metadata is stored with phrases as payloads are, which older versions could not read.
