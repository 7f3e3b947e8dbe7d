"""The kinds of files that are known, by field; `basanite.formats.file_kinds` has the one list of them all."""
