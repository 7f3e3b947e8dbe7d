"""The only code that knows SQL: tables, transactions, the event log, files by content, and the vault of keys."""
