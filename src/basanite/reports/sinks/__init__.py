"""Where results go besides files of Basanite: formats and services of others, by the entry point `basanite.sinks`."""
