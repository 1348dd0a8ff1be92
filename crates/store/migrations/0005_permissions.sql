-- What answers of "always" have allowed, for a whole project. Made by no event, and of no session: it
-- outlasts the one that asked.

CREATE TABLE saved_permission (
  key INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  project TEXT NOT NULL,
  action TEXT NOT NULL,
  resource TEXT NOT NULL,               -- a pattern
  time_created INTEGER NOT NULL,
  UNIQUE (project, action, resource)
);
