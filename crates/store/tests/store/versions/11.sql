PRAGMA application_id = 1329808708;
PRAGMA user_version = 11;
CREATE TABLE aggregate (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  seq INTEGER NOT NULL,                 -- sequence of the newest entry, -1 before the first
  owner TEXT
, pending INTEGER NOT NULL DEFAULT 0, retries INTEGER NOT NULL DEFAULT 0, reverted INTEGER NOT NULL DEFAULT -1, bytes INTEGER NOT NULL DEFAULT 0, active INTEGER NOT NULL DEFAULT 0);
INSERT INTO aggregate VALUES (1, 'ses_long', 38, NULL, 3, 0, -1, 1427, 2000);
INSERT INTO aggregate VALUES (2, 'ses_unanswered', 2, NULL, 0, 0, -1, 191, 2000);
INSERT INTO aggregate VALUES (3, 'ses_open', 5, NULL, 0, 2, -1, 367, 2000);
INSERT INTO aggregate VALUES (4, 'ses_progress', 6, NULL, 0, 1, -1, 419, 2000);
INSERT INTO aggregate VALUES (5, 'ses_reverted', 8, NULL, 1, 0, 8, 296, 2000);
INSERT INTO aggregate VALUES (6, 'ses_archived', 1, NULL, 0, 0, -1, 338, 2000);
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
INSERT INTO event VALUES (1, 0, X'0000000050013737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_long","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (1, 1, X'0000000050023737373737373737373737373737', 12, 2000, NULL, NULL, '{"location":{"directory":"/b"},"subdirectory":"x"}', NULL);
INSERT INTO event VALUES (1, 2, X'0000000050033737373737373737373737373737', 10, 2000, NULL, NULL, 'gplan"}', NULL);
INSERT INTO event VALUES (1, 3, X'0000000050043737373737373737373737373737', 11, 2000, NULL, NULL, 'mclaude-sonnet-4-5anthropic"}}', NULL);
INSERT INTO event VALUES (1, 4, X'0000000050053737373737373737373737373737', 13, 2000, NULL, NULL, '1one', NULL);
INSERT INTO event VALUES (1, 5, X'0000000050063737373737373737373737373737', 13, 2000, NULL, NULL, '2two', NULL);
INSERT INTO event VALUES (1, 6, X'0000000050073737373737373737373737373737', 13, 2000, NULL, NULL, '3three', NULL);
INSERT INTO event VALUES (1, 7, X'0000000050083737373737373737373737373737', 13, 2000, NULL, NULL, '4four', NULL);
INSERT INTO event VALUES (1, 8, X'0000000050093737373737373737373737373737', 13, 2000, NULL, NULL, '5five', NULL);
INSERT INTO event VALUES (1, 9, X'00000000500A3737373737373737373737373737', 15, 2000, NULL, NULL, '5"}', NULL);
INSERT INTO event VALUES (1, 10, X'00000000500B3737373737373737373737373737', 16, 2000, NULL, NULL, '4","delivery":"steer"}', NULL);
INSERT INTO event VALUES (1, 11, X'00000000500C3737373737373737373737373737', 14, 2000, NULL, 4, NULL, NULL);
INSERT INTO event VALUES (1, 12, X'00000000500D3737373737373737373737373737', 18, 2000, NULL, NULL, 'c"It is Friday."}', NULL);
INSERT INTO event VALUES (1, 13, X'00000000500E3737373737373737373737373737', 19, 2000, NULL, NULL, 's"go on"}', NULL);
INSERT INTO event VALUES (1, 14, X'00000000500F3737373737373737373737373737', 20, 2000, NULL, NULL, 'h","callID":"sh","command":"ls"}', NULL);
INSERT INTO event VALUES (1, 15, X'0000000050103737373737373737373737373737', 21, 2000, NULL, NULL, '{"callID":"sh""a\tb"}', NULL);
INSERT INTO event VALUES (1, 16, X'0000000050113737373737373737373737373737', 22, 2000, NULL, NULL, 'abuildclaude-sonnet-4-5anthropic"}}', NULL);
INSERT INTO event VALUES (1, 17, X'0000000050123737373737373737373737373737', 25, 2000, 16, NULL, '"textID":"t"}', NULL);
INSERT INTO event VALUES (1, 18, X'0000000050133737373737373737373737373737', 26, 2000, 16, NULL, '"textID":"t"An answer."}', NULL);
INSERT INTO event VALUES (1, 19, X'0000000050143737373737373737373737373737', 27, 2000, 16, NULL, '"reasoningID":"r"}', NULL);
INSERT INTO event VALUES (1, 20, X'0000000050153737373737373737373737373737', 28, 2000, 16, NULL, '"reasoningID":"r"A thought."}', NULL);
INSERT INTO event VALUES (1, 21, X'0000000050163737373737373737373737373737', 29, 2000, 16, NULL, '"callID":"c1read"}', NULL);
INSERT INTO event VALUES (1, 22, X'0000000050173737373737373737373737373737', 30, 2000, 16, NULL, '"callID":"c1"{\"path\":\"src/main.rs\",\"limit\":200}"}', NULL);
INSERT INTO event VALUES (1, 23, X'0000000050183737373737373737373737373737', 31, 2000, 16, 22, CAST(X'2263616C6C4944223A2263311672656164222C22696E707574223A002C2270726F7669646572223A7B226578656375746564223A66616C73652C226D65746164617461223A7B226D6F636B223A7B226E223A317D7D7D7D' AS TEXT), NULL);
INSERT INTO event VALUES (1, 24, X'0000000050193737373737373737373737373737', 29, 2000, 16, NULL, '"callID":"c2read"}', NULL);
INSERT INTO event VALUES (1, 25, X'00000000501A3737373737373737373737373737', 30, 2000, 16, NULL, '"callID":"c2"{\"path\":\"src/main.rs\",\"limit\":200}"}', NULL);
INSERT INTO event VALUES (1, 26, X'00000000501B3737373737373737373737373737', 31, 2000, 16, 25, CAST(X'2263616C6C4944223A2263321672656164222C22696E707574223A002C2270726F7669646572223A7B226578656375746564223A66616C73652C226D65746164617461223A7B226D6F636B223A7B226E223A317D7D7D7D' AS TEXT), NULL);
INSERT INTO event VALUES (1, 27, X'00000000501C3737373737373737373737373737', 29, 2000, 16, NULL, '"callID":"c3read"}', NULL);
INSERT INTO event VALUES (1, 28, X'00000000501D3737373737373737373737373737', 30, 2000, 16, NULL, '"callID":"c3"{\"path\":\"src/main.rs\",\"limit\":200}"}', NULL);
INSERT INTO event VALUES (1, 29, X'00000000501E3737373737373737373737373737', 31, 2000, 16, 28, CAST(X'2263616C6C4944223A2263331672656164222C22696E707574223A002C2270726F7669646572223A7B226578656375746564223A66616C73652C226D65746164617461223A7B226D6F636B223A7B226E223A317D7D7D7D' AS TEXT), NULL);
INSERT INTO event VALUES (1, 30, X'00000000501F3737373737373737373737373737', 32, 2000, 16, NULL, '"callID":"c1""n":1},"content":[]}', NULL);
INSERT INTO event VALUES (1, 31, X'0000000050203737373737373737373737373737', 33, 2000, 16, NULL, CAST(X'2263616C6C4944223A226331221822636F6E74656E74223A2200227D2C22636F6E74656E74223A5B7B2274797065223A2266696C65222C22757269223A22646174613A696D6167652F706E673B6261736536342C51554A44524556475230684A536B744D545535505546465355315256566C645957566F3D222C226D696D65223A22696D6167652F706E67227D5D17' AS TEXT), NULL);
INSERT INTO event VALUES (1, 32, X'0000000050213737373737373737373737373737', 34, 2000, 16, NULL, '"callID":"c2"no"tool"}}', NULL);
INSERT INTO event VALUES (1, 33, X'0000000050223737373737373737373737373737', 33, 2000, 16, NULL, '"callID":"c3"},"content":[]', NULL);
INSERT INTO event VALUES (1, 34, X'0000000050233737373737373737373737373737', 23, 2000, 16, NULL, '0.2512345}}}', '{"prefix":{"bytes":7}}');
INSERT INTO event VALUES (1, 35, X'0000000050243737373737373737373737373737', 17, 2000, NULL, NULL, '{"calls":[a","callID":"c1"}]}', NULL);
INSERT INTO event VALUES (1, 36, X'0000000050253737373737373737373737373737', 36, 2000, NULL, NULL, 'k","reason":"auto"}', NULL);
INSERT INTO event VALUES (1, 37, X'0000000050263737373737373737373737373737', 37, 2000, NULL, NULL, 'k","reason":"auto"Done so far.","recent":"one"}', NULL);
INSERT INTO event VALUES (1, 38, X'0000000050273737373737373737373737373737', 38, 2000, NULL, NULL, '{"revert":1","snapshot":"s"}}', NULL);
INSERT INTO event VALUES (2, 0, X'0000000050283737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_unanswered","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (2, 1, X'0000000050293737373737373737373737373737', 13, 2000, NULL, NULL, 'unansweredx', NULL);
INSERT INTO event VALUES (2, 2, X'00000000502A3737373737373737373737373737', 14, 2000, NULL, 1, NULL, NULL);
INSERT INTO event VALUES (3, 0, X'00000000502B3737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_open","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (3, 1, X'00000000502C3737373737373737373737373737', 13, 2000, NULL, NULL, 'openx', NULL);
INSERT INTO event VALUES (3, 2, X'00000000502D3737373737373737373737373737', 14, 2000, NULL, 1, NULL, NULL);
INSERT INTO event VALUES (3, 3, X'00000000502E3737373737373737373737373737', 22, 2000, NULL, NULL, 'open_abuildclaude-sonnet-4-5anthropic"}}', NULL);
INSERT INTO event VALUES (3, 4, X'00000000502F3737373737373737373737373737', 35, 2000, NULL, NULL, '{"attempt":1,"error":{"message":"the process ended","isRetryable":true}}', NULL);
INSERT INTO event VALUES (3, 5, X'0000000050303737373737373737373737373737', 35, 2000, NULL, NULL, '{"attempt":2,"error":{"message":"the process ended","isRetryable":true}}', NULL);
INSERT INTO event VALUES (4, 0, X'0000000050313737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_progress","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (4, 1, X'0000000050323737373737373737373737373737', 13, 2000, NULL, NULL, 'progressx', NULL);
INSERT INTO event VALUES (4, 2, X'0000000050333737373737373737373737373737', 14, 2000, NULL, 1, NULL, NULL);
INSERT INTO event VALUES (4, 3, X'0000000050343737373737373737373737373737', 35, 2000, NULL, NULL, '{"attempt":1,"error":{"message":"the process ended","isRetryable":true}}', NULL);
INSERT INTO event VALUES (4, 4, X'0000000050353737373737373737373737373737', 22, 2000, NULL, NULL, 'progress_abuildclaude-sonnet-4-5anthropic"}}', NULL);
INSERT INTO event VALUES (4, 5, X'0000000050363737373737373737373737373737', 23, 2000, 4, NULL, '0.2512345}}}', '{"prefix":{"bytes":7}}');
INSERT INTO event VALUES (4, 6, X'0000000050373737373737373737373737373737', 35, 2000, NULL, NULL, '{"attempt":1,"error":{"message":"the process ended","isRetryable":true}}', NULL);
INSERT INTO event VALUES (5, 0, X'0000000050383737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_reverted","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (5, 1, X'0000000050393737373737373737373737373737', 13, 2000, NULL, NULL, 'keptx', NULL);
INSERT INTO event VALUES (5, 2, X'00000000503A3737373737373737373737373737', 14, 2000, NULL, 1, NULL, NULL);
INSERT INTO event VALUES (5, 3, X'00000000503B3737373737373737373737373737', 22, 2000, NULL, NULL, 'kept_abuildclaude-sonnet-4-5anthropic"}}', NULL);
INSERT INTO event VALUES (5, 4, X'00000000503C3737373737373737373737373737', 24, 2000, 3, NULL, '"error":{"type":"unknown","message":"cut"}}', NULL);
INSERT INTO event VALUES (5, 5, X'00000000503D3737373737373737373737373737', 13, 2000, NULL, NULL, 'gonex', NULL);
INSERT INTO event VALUES (5, 6, X'00000000503E3737373737373737373737373737', 14, 2000, NULL, 5, NULL, NULL);
INSERT INTO event VALUES (5, 7, X'00000000503F3737373737373737373737373737', 13, 2000, NULL, NULL, 'waitsx', NULL);
INSERT INTO event VALUES (5, 8, X'0000000050403737373737373737373737373737', 40, 2000, NULL, NULL, 'kept_a"}', NULL);
INSERT INTO event VALUES (6, 0, X'0000000050413737373737373737373737373737', 1, 1000, NULL, NULL, '{"info":{"id":"ses_archived","slug":"quiet-river","projectID":"project","directory":"/project","title":"New session","version":"1.0.0","time":{"created":1000,"updated":1000}}}', NULL);
INSERT INTO event VALUES (6, 1, X'0000000050423737373737373737373737373737', 2, 2000, NULL, NULL, '{"info":{"id":"ses_archived","slug":"s","projectID":"project","directory":"/project","title":"Old","version":"1","time":{"created":1000,"updated":9,"archived":9}}}', NULL);
CREATE TABLE project (
  id TEXT PRIMARY KEY,
  directory TEXT NOT NULL,
  time_created INTEGER NOT NULL
) WITHOUT ROWID;
INSERT INTO project VALUES ('project', '/project', 5);
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
  time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL,
  time_archived INTEGER
, staged INTEGER, permission TEXT, forked INTEGER NOT NULL DEFAULT 0, settings INTEGER, output INTEGER, rejected INTEGER NOT NULL DEFAULT 0, share_url TEXT, diff_start TEXT, diff_end TEXT, summary_additions INTEGER, summary_deletions INTEGER, summary_files INTEGER, budget TEXT, turns INTEGER NOT NULL DEFAULT 0, worked INTEGER NOT NULL DEFAULT 0, unconfirmed INTEGER NOT NULL DEFAULT 0);
INSERT INTO session VALUES (1, 'project', NULL, NULL, 'quiet-river', '/b', 'x', 'New session', '1.0.0', 'plan', '{"id":"claude-sonnet-4-5","providerID":"anthropic"}', 0.25, 1, 2, 3, 4, 5, 1000, 2000, NULL, 38, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0);
INSERT INTO session VALUES (2, 'project', NULL, NULL, 'quiet-river', '/project', NULL, 'New session', '1.0.0', NULL, NULL, 0.0, 0, 0, 0, 0, 0, 1000, 1000, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0);
INSERT INTO session VALUES (3, 'project', NULL, NULL, 'quiet-river', '/project', NULL, 'New session', '1.0.0', NULL, NULL, 0.0, 0, 0, 0, 0, 0, 1000, 1000, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0);
INSERT INTO session VALUES (4, 'project', NULL, NULL, 'quiet-river', '/project', NULL, 'New session', '1.0.0', NULL, NULL, 0.25, 1, 2, 3, 4, 5, 1000, 1000, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0);
INSERT INTO session VALUES (5, 'project', NULL, NULL, 'quiet-river', '/project', NULL, 'New session', '1.0.0', NULL, NULL, 0.0, 0, 0, 0, 0, 0, 1000, 2000, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, 0, 0);
INSERT INTO session VALUES (6, 'project', NULL, NULL, 'quiet-river', '/project', NULL, 'Old', '1.0.0', NULL, NULL, 0.0, 0, 0, 0, 0, 0, 1000, 9, 9, NULL, NULL, 0, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, 0, 0);
CREATE INDEX session_created ON session(time_created);
CREATE INDEX session_project ON session(project, time_created);
CREATE INDEX session_directory ON session(directory, time_created);
CREATE TABLE message (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  seq INTEGER NOT NULL,                 -- entry that created it
  id BLOB NOT NULL UNIQUE,
  type INTEGER NOT NULL,
  changed INTEGER NOT NULL,             -- entry that changed it last
  settled INTEGER,                      -- entry that ended it
  completed INTEGER,                    -- when it was completed
  run TEXT, output INTEGER,                             -- of a shell command: the name of its run
  PRIMARY KEY (aggregate, seq)
) WITHOUT ROWID;
INSERT INTO message VALUES (1, 2, 'msg_g', 7, 2, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (1, 3, 'msg_m', 8, 3, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (1, 11, 'msg_1', 1, 11, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (1, 12, 'msg_c', 3, 12, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (1, 13, 'msg_s', 4, 13, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (1, 14, 'msg_h', 5, 15, 15, 2000, 'sh', NULL);
INSERT INTO message VALUES (1, 16, 'msg_a', 2, 35, 34, 2000, NULL, NULL);
INSERT INTO message VALUES (1, 37, 'msg_k', 6, 37, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (2, 2, 'msg_unanswered', 1, 2, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (3, 2, 'msg_open', 1, 2, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (3, 3, 'msg_open_a', 2, 3, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (4, 2, 'msg_progress', 1, 2, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (4, 4, 'msg_progress_a', 2, 5, 5, 2000, NULL, NULL);
INSERT INTO message VALUES (5, 2, 'msg_kept', 1, 2, NULL, NULL, NULL, NULL);
INSERT INTO message VALUES (5, 3, 'msg_kept_a', 2, 4, 4, 2000, NULL, NULL);
CREATE INDEX message_changed ON message(aggregate, changed);
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
INSERT INTO part VALUES (1, 16, 0, 0, 't', 17, NULL, NULL, NULL, 18, NULL);
INSERT INTO part VALUES (1, 16, 1, 1, 'r', 19, NULL, NULL, NULL, 20, NULL);
INSERT INTO part VALUES (1, 16, 2, 2, 'c1', 21, 22, 23, 30, 31, 2000);
INSERT INTO part VALUES (1, 16, 3, 2, 'c2', 24, 25, 26, NULL, 32, NULL);
INSERT INTO part VALUES (1, 16, 4, 2, 'c3', 27, 28, 29, NULL, 33, NULL);
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
INSERT INTO input VALUES (1, 4, 'msg_1', 0, 11, NULL);
INSERT INTO input VALUES (1, 5, 'msg_2', 0, NULL, NULL);
INSERT INTO input VALUES (1, 6, 'msg_3', 1, NULL, NULL);
INSERT INTO input VALUES (1, 7, 'msg_4', 0, NULL, NULL);
INSERT INTO input VALUES (1, 8, 'msg_5', 0, NULL, 9);
INSERT INTO input VALUES (2, 1, 'msg_unanswered', 0, 2, NULL);
INSERT INTO input VALUES (3, 1, 'msg_open', 0, 2, NULL);
INSERT INTO input VALUES (4, 1, 'msg_progress', 0, 2, NULL);
INSERT INTO input VALUES (5, 1, 'msg_kept', 0, 2, NULL);
INSERT INTO input VALUES (5, 5, 'msg_gone', 0, 6, NULL);
INSERT INTO input VALUES (5, 7, 'msg_waits', 1, NULL, NULL);
CREATE INDEX input_pending ON input(aggregate, delivery, admitted)
  WHERE promoted IS NULL AND withdrawn IS NULL;
CREATE TABLE context_epoch (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate(key) ON DELETE CASCADE,
  baseline TEXT NOT NULL,
  snapshot TEXT NOT NULL,
  baseline_seq INTEGER NOT NULL
);
INSERT INTO context_epoch VALUES (1, 'You are in /b.', '{}', 12);
CREATE INDEX message_turn ON message(aggregate, seq) WHERE type IN (1, 2);
CREATE TABLE removed (key INTEGER NOT NULL, residue INTEGER NOT NULL DEFAULT 0, removals INTEGER NOT NULL DEFAULT 0, swept INTEGER NOT NULL DEFAULT 0);
INSERT INTO removed VALUES (0, 0, 0, 0);
CREATE TABLE explored (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  directory TEXT NOT NULL,              -- relative to the Location, `/` between the names
  PRIMARY KEY (aggregate, directory)
) WITHOUT ROWID;
CREATE TABLE saved_permission (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project TEXT NOT NULL,
  action TEXT NOT NULL,
  resource TEXT NOT NULL,               -- a pattern
  time_created INTEGER NOT NULL,
  UNIQUE (project, action, resource)
);
CREATE TABLE todo (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  position INTEGER NOT NULL,
  content TEXT NOT NULL,
  status TEXT NOT NULL,
  priority TEXT NOT NULL,
  PRIMARY KEY (aggregate, position)
) WITHOUT ROWID;
CREATE TABLE credential (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  integration_id TEXT NOT NULL,
  label TEXT NOT NULL,
  value TEXT NOT NULL,
  time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL
);
CREATE INDEX credential_integration ON credential (integration_id);
CREATE TABLE hidden (
  aggregate INTEGER PRIMARY KEY REFERENCES aggregate(key) ON DELETE CASCADE,
  is_copy INTEGER NOT NULL
);
CREATE INDEX hidden_removed ON hidden(aggregate) WHERE is_copy = 0;
CREATE INDEX session_archived ON session(time_created) WHERE time_archived IS NOT NULL;
CREATE INDEX session_current ON session(time_created) WHERE time_archived IS NULL;
CREATE INDEX session_parent ON session(parent, time_created) WHERE parent IS NOT NULL;
CREATE INDEX session_root ON session(time_created) WHERE parent IS NULL;
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
CREATE TABLE imported (
  aggregate INTEGER NOT NULL REFERENCES aggregate(key) ON DELETE CASCADE,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  PRIMARY KEY (aggregate, first)
) WITHOUT ROWID;
CREATE TABLE removed_file (path TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE removed_tree (root TEXT PRIMARY KEY) WITHOUT ROWID;
