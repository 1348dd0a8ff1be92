-- The event log, and the projections that index it.
--
-- A log entry owns its payload; projections point at entries by sequence instead of repeating
-- them, so every value is stored once and no row grows. Columns named `id` hold an identifier in
-- its packed form: 20 bytes for one made by this program, the text itself for any other.

CREATE TABLE aggregate (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL,                 -- sequence of the newest entry, -1 before the first
  owner TEXT
);

-- The one table with row ids: without them rows from a quarter of a page on spill into pages of
-- their own, which would double the bytes of an ordinary answer.
CREATE TABLE event (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  id BLOB NOT NULL UNIQUE,
  type INTEGER NOT NULL,                -- number of name and version in the catalogue
  time INTEGER NOT NULL,
  message INTEGER,                      -- entry that names the message this payload belongs to
  source INTEGER,                       -- entry that holds a value this payload repeats
  data TEXT,                            -- payload less what the other columns say
  metadata TEXT,
  PRIMARY KEY (aggregate, seq)
);

CREATE TABLE project (
  id TEXT PRIMARY KEY,
  directory TEXT NOT NULL,
  time_created INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE session (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate(key) ON DELETE CASCADE,
  project TEXT NOT NULL,
  workspace TEXT,
  parent TEXT,
  slug TEXT NOT NULL,
  directory TEXT NOT NULL,
  path TEXT,
  title TEXT NOT NULL,
  version TEXT NOT NULL,
  agent TEXT,
  model TEXT,
  cost REAL NOT NULL DEFAULT 0,
  tokens_input INTEGER NOT NULL DEFAULT 0,
  tokens_output INTEGER NOT NULL DEFAULT 0,
  tokens_reasoning INTEGER NOT NULL DEFAULT 0,
  tokens_cache_read INTEGER NOT NULL DEFAULT 0,
  tokens_cache_write INTEGER NOT NULL DEFAULT 0,
  revert TEXT,
  time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL,
  time_archived INTEGER
);
CREATE INDEX session_created ON session(time_created);
CREATE INDEX session_project ON session(project, time_created);
CREATE INDEX session_directory ON session(directory, time_created);
CREATE INDEX session_parent ON session(parent) WHERE parent IS NOT NULL;

CREATE TABLE message (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,                 -- entry that created it
  id BLOB NOT NULL UNIQUE,
  type INTEGER NOT NULL,
  changed INTEGER NOT NULL,             -- entry that changed it last
  settled INTEGER,                      -- entry that ended it
  completed INTEGER,                    -- when it was completed
  run TEXT,                             -- of a shell command: the name of its run
  PRIMARY KEY (aggregate, seq)
) WITHOUT ROWID;
CREATE INDEX message_changed ON message(aggregate, changed);
-- The few messages that have to be found without walking the history.
CREATE INDEX message_open ON message(aggregate, seq) WHERE type = 2 AND completed IS NULL;
CREATE INDEX message_system ON message(aggregate, seq) WHERE type = 3;
CREATE INDEX message_shell ON message(aggregate, run, seq) WHERE type = 5;
CREATE INDEX message_checkpoint ON message(aggregate, seq) WHERE type = 6;

CREATE TABLE part (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  message INTEGER NOT NULL,             -- sequence of its message
  position INTEGER NOT NULL,
  kind INTEGER NOT NULL,
  name TEXT NOT NULL,                   -- the provider's name of the block or call
  started INTEGER NOT NULL,             -- the entries that tell its story
  input INTEGER,
  called INTEGER,
  progress INTEGER,
  settled INTEGER,
  pruned INTEGER,                       -- when its output was pruned
  PRIMARY KEY (aggregate, message, position)
) WITHOUT ROWID;
CREATE INDEX part_open ON part(aggregate, message) WHERE kind = 2 AND settled IS NULL;

CREATE TABLE input (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  admitted INTEGER NOT NULL,            -- entry of its admission, which holds the prompt
  id BLOB NOT NULL UNIQUE,
  delivery INTEGER NOT NULL,
  promoted INTEGER,
  withdrawn INTEGER,
  PRIMARY KEY (aggregate, admitted)
) WITHOUT ROWID;
CREATE INDEX input_pending ON input(aggregate, delivery, admitted)
  WHERE promoted IS NULL AND withdrawn IS NULL;

CREATE TABLE context_epoch (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate(key) ON DELETE CASCADE,
  baseline TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  baseline_seq INTEGER NOT NULL
);
