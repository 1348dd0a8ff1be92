-- Credentials of integrations. Their values are secrets: no event, export or answer contains them.

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
