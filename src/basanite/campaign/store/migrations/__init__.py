"""The versions of the schema, run by `store.migrating`."""
