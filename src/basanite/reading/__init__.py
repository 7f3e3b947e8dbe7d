"""Machine reading: formal knowledge read from text, with rules that reason about it and answers that are scored."""
